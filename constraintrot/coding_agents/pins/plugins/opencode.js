
export const ConstraintRotPin = async () => ({
  // Before each request, a summary's too.
  "experimental.chat.system.transform": async (input, output) => {
    output.system.push(await policies("system.transform", input.sessionID))
  },
})
