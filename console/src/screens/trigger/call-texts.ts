// The same call for a terminal, a script and a program. None of them shows a key.

export type Call = {
  url: string
  jobName: string
  deviceIds: readonly string[]
  /** When the devices are exactly those with this tag. */
  tag: string | undefined
}

export type CallText = {
  /** What is copied. */
  whole: string
  /** What is shown: of many devices the first ones. */
  shown: string
}

/** More of them stand in a file of their own. */
const inline = 8

export const callTexts = { curl: asCurl, CLI: asCommand, TypeScript: asTypeScript } as const
export type CallKind = keyof typeof callTexts

function asCurl({ url, jobName, deviceIds }: Call): CallText {
  const head =
    `curl -X POST ${quote(`${url}/job/api/jobs/execute`)} \\\n` +
    `  -H "X-API-Key: $JOBCAST_API_KEY" \\\n  -H 'Content-Type: application/json' \\\n`
  if (deviceIds.length <= inline) {
    return same(`${head}  -d ${quote(JSON.stringify({ jobName, deviceIds }))}`)
  }
  return cut(deviceIds, (ids, more) => {
    const lines = ids.map((id) => `  ${JSON.stringify(id)}`).join(',\n')
    const body = `{"jobName":${JSON.stringify(jobName)},"deviceIds":[\n${lines}${more && `,\n  ${more}`}\n]}`
    return `${head}  --data-binary @- <<'DEVICES'\n${body}\nDEVICES`
  })
}

function asCommand({ url, jobName, deviceIds, tag }: Call): CallText {
  const head = `JOBCAST_URL=${quote(url)} npx jobcast trigger ${quote(jobName)}`
  if (tag !== undefined) return same(`${head} --tag ${quote(tag)} --wait`)
  if (deviceIds.length <= inline) {
    return same(`${head}${deviceIds.map((id) => ` \\\n  --device ${quote(id)}`).join('')} \\\n  --wait`)
  }
  return cut(
    deviceIds,
    (ids, more) =>
      `${head} --wait --devices-file - <<'DEVICES'\n${ids.join('\n')}${more && `\n${more}`}\nDEVICES`,
  )
}

function asTypeScript({ url, jobName, deviceIds }: Call): CallText {
  return cut(deviceIds, (ids, more) => {
    const list =
      deviceIds.length <= inline
        ? `[${ids.map((id) => JSON.stringify(id)).join(', ')}]`
        : `[\n${ids.map((id) => `    ${JSON.stringify(id)},`).join('\n')}${more && `\n    ${more}`}\n  ]`
    return [
      `import { Jobcast } from '@jobcast/client'`,
      '',
      `const jobcast = new Jobcast({ url: ${JSON.stringify(url)}, apiKey: process.env.JOBCAST_API_KEY })`,
      `const run = await jobcast.trigger({`,
      `  jobName: ${JSON.stringify(jobName)},`,
      `  deviceIds: ${list},`,
      `}).wait()`,
    ].join('\n')
  })
}

/** As one word of a shell, whatever is in it. */
export function quote(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

function same(text: string): CallText {
  return { whole: text, shown: text }
}

function cut(
  deviceIds: readonly string[],
  write: (deviceIds: readonly string[], more: string) => string,
): CallText {
  if (deviceIds.length <= inline) return same(write(deviceIds, ''))
  const left = new Intl.NumberFormat('en').format(deviceIds.length - inline)
  return {
    whole: write(deviceIds, ''),
    shown: write(deviceIds.slice(0, inline), `… ${left} more, all copied`),
  }
}
