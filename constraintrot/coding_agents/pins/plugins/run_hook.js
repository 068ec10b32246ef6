// Written by `constraintrot pin install`; `constraintrot pin uninstall` takes it away.
import { execFile } from "node:child_process"

const PROGRAM = "@PYTHON@"
const HOOK = "@HOOK@"
const LOST = "@LOST@"

// The standing policies as text. Where they cannot be had, a text that says so.
function policies(event, session) {
  return new Promise((resolve) => {
    const lost = (why) => resolve(LOST + " (" + String(why).slice(0, 500) + ")")
    const read = (error, printed) => {
      try {
        resolve(JSON.parse(printed).hookSpecificOutput.additionalContext)
      } catch {
        lost(error ?? "its answer is no JSON")
      }
    }
    try {
      const options = { timeout: 20000, maxBuffer: 64 * 1024 * 1024 }
      const child = execFile(PROGRAM, ["-I", "-S", HOOK, "@AGENT@"], options, read)
      child.stdin?.on("error", () => {})
      child.stdin?.end(JSON.stringify({ hook_event_name: event, session_id: session ?? "" }))
    } catch (error) {
      lost(error)
    }
  })
}
