// Commands that people copy into a terminal. Names are untrusted, so each is quoted as one word of a POSIX shell, whatever it
// contains.

/** Characters that a terminal interprets, or that change the order in which text is shown. */
const invisible = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u
const invisibles = new RegExp(invisible, 'gu')

export function shellWord(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text
  // Line breaks are allowed within quotes; other invisible characters are written as bytes.
  if (invisible.test(text.replaceAll('\n', ''))) return `"$(printf '${asOctal(text)}')"`
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** Escapes everything except letters and digits, so that the shell and printf interpret nothing. */
function asOctal(text: string): string {
  return Array.from(new TextEncoder().encode(text), (byte) => {
    const letter = String.fromCharCode(byte)
    return /[A-Za-z0-9]/.test(letter) ? letter : `\\${byte.toString(8).padStart(3, '0')}`
  }).join('')
}

/** JSON in which every invisible character is escaped. */
export function visibleJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(invisibles, (text) =>
    Array.from(
      { length: text.length },
      (_, index) => `\\u${text.charCodeAt(index).toString(16).padStart(4, '0')}`,
    ).join(''),
  )
}

/** An empty folder of handlers is sufficient to start; without one the agent exits. */
export function agentLine(server: string, deviceId: string, deviceToken: string): string {
  return `mkdir -p handlers && JOBCAST_DEVICE_TOKEN=${shellWord(deviceToken)} npx --no-install jobcast agent --server=${shellWord(server)} --device=${shellWord(deviceId)} --handlers=handlers`
}

/** The device ID is the prefix followed by the name of the machine. */
export function enrollLine(server: string, prefix: string | null, enrollmentToken: string): string {
  const deviceId = `${prefix === null ? '' : shellWord(prefix)}"$(hostname)"`
  return `JOBCAST_ENROLLMENT_TOKEN=${shellWord(enrollmentToken)} npx --no-install jobcast agent enroll --server=${shellWord(server)} --device=${deviceId} --token-file=device.token`
}

export function keyLine(apiKey: string): string {
  return `export JOBCAST_API_KEY=${shellWord(apiKey)}`
}
