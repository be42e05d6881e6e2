// From the dialog that makes a webhook to the screen that shows it: once, and in memory only.

const waiting = new Map<string, string>()

export function leaveSecret(webhookName: string, secret: string): void {
  waiting.clear()
  waiting.set(webhookName, secret)
}

export function takeSecret(webhookName: string): string | undefined {
  const secret = waiting.get(webhookName)
  waiting.delete(webhookName)
  return secret
}
