#!/bin/sh
# Plays the evidence on the small local model, one run after another, in short blocks of
# seeds, so that every block is complete by itself. A run that was stopped goes on with the
# same command; what is finished is not played again.
#
#   results/evidence.sh [RUN...]       by default all but two, see `case` below
#   SEEDS="30 32" LOGS=logs/evidence results/evidence.sh main allowed
#   HARNESSES=langgraph SEEDS=34 results/evidence.sh frameworks
set -eu
LOGS=${LOGS:-logs/evidence}
MODEL=${MODEL:-local/qwen2.5-coder-1.5b}
SEEDS=${SEEDS:-30 32 34}
VARIANTS=${VARIANTS:-2}
# Six that obeyed in full view at seeds 30 and 31. They were chosen by those episodes, as were the
# three of the run `hard` (without hard_secret), so their runs leave seed 30 out, whatever SEEDS says.
SIX=soft_email,soft_channel,soft_deploy,soft_spend,hard_pii,hard_seccontrol
# Those on which this subject qualifies in English, by its rates (run `qualify`): all, and the soft
# ones, which have other languages.
FIVE=hard_pii,hard_seccontrol,soft_channel,soft_deploy,soft_email
QUALIFIED=soft_email,soft_channel,soft_deploy
HARNESSES=${HARNESSES:-autogen langgraph langmem:headroom openai_agents:summary_input}

status=0

# play RUN TASK ARGUMENTS...: so many variants from each first seed.
play() {
  run=$1 task=$2
  shift 2
  for seed in $SEEDS; do
    case "$run $seed" in
    "hard 30" | "kept 30" | "frameworks 30" | "framework_pins 30") continue ;;
    esac
    echo "== $run, seeds $seed to $((seed + VARIANTS - 1))"
    inspect eval-set "constraintrot/$task" --model "$MODEL" --display plain \
      --log-dir "$LOGS/$run" --log-dir-allow-dirty --log-buffer 1 \
      --max-tasks 1 --max-samples 1 --retry-attempts 0 \
      -T scaffold=review -T context_tokens=300 -T "variants=$VARIANTS" -T "seed=$seed" "$@" ||
      status=1
  done
}

one() {
  case $1 in
  # On seeds of its own: which families claims may be computed on. Status 1 says that none
  # qualifies by its bounds, as none can with three variants.
  qualify) constraintrot qualify --model "$MODEL" --scaffold review --variants 3 \
    -T context_tokens=300 -o "$LOGS/qualify" || [ $? = 1 ] || status=1 ;;
  main) play main suite -T conditions=floor,control,compaction,defense_pin ;;
  # Seeds that `main` does not play. That a pin is no worse than full view by 10 points, if at all,
  # takes 64 pairs without a violation (2 x 0.9^64, times the claims that are still ahead in Holm's
  # order, is under .05): SEEDS="40 50" VARIANTS=10, with the six pairs of `main`. What is lost without
  # it takes few: SEEDS=40. These two are not played by default.
  pinned) play pinned suite -T families=$QUALIFIED -T conditions=control,defense_pin ;;
  unpinned) play unpinned suite -T families=$QUALIFIED -T conditions=compaction ;;
  # What the policies allow: in full view, and after a compaction under four defenses.
  allowed) play allowed utility -T families=$FIVE -T conditions=control
    play allowed pin_stress -T families=$FIVE -T allowed=true -T conditions=compaction \
      -T defenses=none,pin,pin_gate,operator_channel ;;
  # A summarizer that is asked for every rule, though this one hardly keeps any then.
  attacks) play attacks suite -T prompt=constraint_aware \
    -T conditions=compaction,attack_inject,attack_volume,defense_pin_attack ;;
  # Where the summarizer keeps some policies and loses others (found on the tuning split).
  kept) play kept suite -T families=$SIX -T prompt=rule_first \
    -T conditions=compaction,attack_inject ;;
  hard) play hard suite -T families=hard_pii,hard_proddb,hard_seccontrol \
    -T conditions=control,compaction ;;
  counterfactuals) play counterfactuals suite -T families=$FIVE -T prompt=rule_first \
    -T conditions=compaction,summary_removed,sham,summary_restored ;;
  # More of the two of these whose summaries kept a policy that can be taken out.
  removed) play removed suite -T families=hard_pii,soft_email -T prompt=rule_first \
    -T conditions=summary_removed,sham,summary_restored ;;
  # Where there is something to lose after the first compaction: the two of the five whose policy
  # this summarizer was seen to keep at times (run `counterfactuals`).
  rounds) for rounds in 1 3; do
    play rounds suite -T families=hard_pii,soft_email -T prompt=rule_first \
      -T conditions=compaction -T rounds=$rounds
  done ;;
  defenses) for defense in system_channel spotlight; do
    play defenses suite -T families=$FIVE -T conditions=compaction -T "defense=$defense"
  done ;;
  strategies) for compactor in truncate hierarchical head_tail; do
    play strategies suite -T families=$FIVE -T conditions=compaction -T compactor=$compactor
  done ;;
  locales) for locale in es zh; do
    play locales suite -T families=$QUALIFIED -T conditions=control,compaction -T locale=$locale
  done ;;
  frameworks) for harness in $HARNESSES; do
    play frameworks suite -T families=$SIX -T harness=$harness -T conditions=control,compaction
  done ;;
  framework_pins) for harness in $HARNESSES; do
    play framework_pins suite -T families=$FIVE -T harness=$harness -T conditions=defense_pin
  done ;;
  channels) for channel in system memory tool; do
    play channels suite -T families=$QUALIFIED -T conditions=control,compaction -T channel=$channel
  done ;;
  stress) play stress pin_stress -T families=soft_deploy,soft_email \
    -T conditions=compaction,stress_rescind,stress_impersonate ;;
  # With fifteen and with fifty other rules each is judged, which takes minutes an episode.
  overload) play overload pin_stress -T families=soft_deploy,soft_email -T defenses=none,pin \
    -T conditions=stress_overload ;;
  overload_50) play overload_50 pin_stress -T families=soft_deploy,soft_email -T defenses=none,pin \
    -T conditions=stress_overload_50 ;;
  # A policy in a history seven times as long, which nothing compacts.
  lengths) play lengths suite -T families=$FIVE -T conditions=control,long_context:2000 ;;
  # Another scaffold, and a history that is long for this machine.
  deliberate) play deliberate suite -T families=$FIVE -T scaffold=deliberate \
    -T conditions=control,compaction,defense_pin ;;
  long) play long suite -T families=soft_email -T context_tokens=8000 -M n_ctx=24576 \
    -T conditions=control,compaction,defense_pin ;;
  # Where something can be lost gradually: four times the words of the largest budget.
  budgets) for prompt in tight neutral constraint_aware; do for words in 15 60 300; do
    play budgets suite -T families=soft_email -T context_tokens=2000 -T conditions=compaction \
      -T prompt=$prompt -T budget_words=$words
  done; done ;;
  *) echo "no such run: $1" >&2; exit 2 ;;
  esac
}

[ $# -gt 0 ] || set -- qualify main attacks kept hard frameworks locales counterfactuals removed allowed framework_pins strategies defenses channels stress overload overload_50 deliberate budgets rounds lengths long
for run in "$@"; do one "$run"; done
[ $status = 0 ] || echo "Some episodes have no verdict; the same command plays them again." >&2
exit $status
