
export const ConstraintRotPin = async () => ({
  // Before each request, a summary's too.
  "experimental.chat.system.transform": async (input, output) => {
    output.system.push(await policies("system.transform", input.sessionID))
  },
  // What the summarizer alone is told, and may or may not do.
  "experimental.session.compacting": async (input, output) => {
    const text = await policies("session.compacting", input.sessionID)
    output.context.push("Repeat these word for word in the summary:\n\n" + text)
  },
})
