// Lines for a terminal.

/** As one word for a shell, whatever is in it. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}

export function agentLine(server: string, deviceId: string, deviceToken: string): string {
  return `JOBCAST_DEVICE_TOKEN=${quoted(deviceToken)} npx jobcast agent --server ${quoted(server)} --device ${quoted(deviceId)} --handlers handlers`
}

/** The name of the machine makes the deviceId, behind the prefix. */
export function enrollLine(server: string, prefix: string | null, enrollmentToken: string): string {
  const deviceId = `${prefix === null ? '' : quoted(prefix)}"$(hostname)"`
  return `JOBCAST_ENROLLMENT_TOKEN=${quoted(enrollmentToken)} npx jobcast agent enroll --server ${quoted(server)} --device ${deviceId} --token-file device.token`
}
