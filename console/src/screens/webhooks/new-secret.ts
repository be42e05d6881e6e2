// Passes the secret from the dialog that creates a webhook to its screen: once, and only in memory.

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
