// The same call for a terminal, a script and a program. None of them shows a key.

import { shellWord, visibleJson } from '../../parts/command-line.ts'

export type Call = {
  url: string
  jobName: string
  deviceIds: readonly string[]
  /** When the devices are exactly those with this tag. */
  tag: string | undefined
  /** Devices by a selector, instead of those. */
  where?: string | undefined
}

export type CallText = {
  /** What is copied. */
  whole: string
  /** What is shown: of many devices the first ones. */
  shown: string
}

/** More devices than this are passed as input, one per line. */
const inline = 8

export const callTexts = { curl: asCurl, CLI: asCommand, TypeScript: asTypeScript } as const
export type CallKind = keyof typeof callTexts

function asCurl({ url, jobName, deviceIds, where }: Call): CallText {
  if (where !== undefined) {
    return same(
      `curl -X POST ${shellWord(`${url}/job/api/runs`)} \\\n` +
        `  -H "X-API-Key: $JOBCAST_API_KEY" \\\n  -H 'Content-Type: application/json' \\\n` +
        `  -d ${shellWord(visibleJson({ jobName, targets: { where } }))}`,
    )
  }
  const head =
    `curl -X POST ${shellWord(`${url}/job/api/jobs/execute`)} \\\n` +
    `  -H "X-API-Key: $JOBCAST_API_KEY" \\\n  -H 'Content-Type: application/json' \\\n`
  if (deviceIds.length <= inline) {
    return same(`${head}  -d ${shellWord(visibleJson({ jobName, deviceIds }))}`)
  }
  return cut(deviceIds, (ids, more) => {
    // Every line of it begins with a brace, a bracket or two blanks, so none can end the here-document.
    const lines = ids.map((id) => `  ${visibleJson(id)}`).join(',\n')
    const body = `{"jobName":${visibleJson(jobName)},"deviceIds":[\n${lines}${more && `,\n  ${more}`}\n]}`
    return `${head}  --data-binary @- <<'DEVICES'\n${body}\nDEVICES`
  })
}

function asCommand({ url, jobName, deviceIds, tag, where }: Call): CallText {
  const head = `JOBCAST_URL=${shellWord(url)} npx jobcast trigger --wait`
  // A name may begin with a dash: values are tied to their options, and `--` ends the options.
  const job = `-- ${shellWord(jobName)}`
  if (where !== undefined) return same(`${head} --where=${shellWord(where)} ${job}`)
  if (tag !== undefined) return same(`${head} --tag=${shellWord(tag)} ${job}`)
  if (deviceIds.length <= inline) {
    return same(`${head}${deviceIds.map((id) => ` \\\n  --device=${shellWord(id)}`).join('')} \\\n  ${job}`)
  }
  return cut(deviceIds, (ids, more) => {
    const words = ids.map((id) => ` \\\n  ${shellWord(id)}`).join('')
    return `printf '%s\\n'${words}${more && ` \\\n  ${more}`} |\n  ${head} --devices-file=- ${job}`
  })
}

function asTypeScript({ url, jobName, deviceIds, where }: Call): CallText {
  if (where !== undefined) {
    return same(
      [
        ...clientLines(url),
        `const run = await jobcast.runs.create({`,
        `  jobName: ${visibleJson(jobName)},`,
        `  targets: { where: ${visibleJson(where)} },`,
        `})`,
      ].join('\n'),
    )
  }
  return cut(deviceIds, (ids, more) => {
    const list =
      deviceIds.length <= inline
        ? `[${ids.map((id) => visibleJson(id)).join(', ')}]`
        : `[\n${ids.map((id) => `    ${visibleJson(id)},`).join('\n')}${more && `\n    ${more}`}\n  ]`
    return [
      ...clientLines(url),
      `const run = await jobcast.trigger({`,
      `  jobName: ${visibleJson(jobName)},`,
      `  deviceIds: ${list},`,
      `}).wait()`,
    ].join('\n')
  })
}

function clientLines(url: string): string[] {
  return [
    `import { Jobcast } from '@jobcast/client'`,
    '',
    `const jobcast = new Jobcast({ url: ${visibleJson(url)}, apiKey: process.env.JOBCAST_API_KEY })`,
  ]
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
