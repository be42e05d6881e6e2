// The export of traces: the standard settings of OpenTelemetry.

export type OtlpSettings = Readonly<{
  endpoint: string
  headers: Record<string, string>
  serviceName: string
}>

/** Undefined: traces are not exported. */
export function readOtlp(env: NodeJS.ProcessEnv, problems: string[]): OtlpSettings | undefined {
  const endpoint = env.OTEL_EXPORTER_OTLP_ENDPOINT
  if (!endpoint) return undefined
  if (!/^https?:$/.test(URL.parse(endpoint)?.protocol ?? '')) {
    problems.push('OTEL_EXPORTER_OTLP_ENDPOINT must be an http or https URL, such as http://collector:4318')
  }
  const headers = readHeaders(env.OTEL_EXPORTER_OTLP_HEADERS ?? '', problems)
  return { endpoint, headers, serviceName: env.OTEL_SERVICE_NAME || 'jobcast' }
}

/** `name=value,name=value`, values percent-encoded. Messages do not contain them, because they may be secrets. */
function readHeaders(text: string, problems: string[]): Record<string, string> {
  const pairs = text.split(',').filter((each) => each.trim() !== '')
  const entries = pairs.map((each) => {
    const at = each.indexOf('=')
    return [each.slice(0, at).trim().toLowerCase(), decode(each.slice(at + 1).trim())] as const
  })
  const isValid = entries.every(
    ([name, value]) => /^[!#$%&'*+.^_`|~\w-]+$/.test(name) && /^[\x20-\x7e]*$/.test(value ?? '\n'),
  )
  if (!isValid) problems.push('OTEL_EXPORTER_OTLP_HEADERS must have the form name=value,name=value')
  return Object.fromEntries(isValid ? entries.map(([name, value]) => [name, value ?? '']) : [])
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
