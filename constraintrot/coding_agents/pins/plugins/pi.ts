
export default function (pi) {
  // Before each turn of the user's; the system prompt then holds for all requests of the turn.
  pi.on("before_agent_start", async (event, ctx) => {
    const session = ctx?.sessionManager?.getSessionId?.()
    return { systemPrompt: event.systemPrompt + "\n\n" + (await policies("before_agent_start", session)) }
  })
}
