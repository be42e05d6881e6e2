// The same call for a terminal, a script and a program. None of them contains a key.

import { shellWord, visibleJson } from '../../parts/command-line.ts'
import type { RunOptions } from './use-run-draft.ts'

export type Call = {
  url: string
  jobName: string
  deviceIds: readonly string[]
  /** Set if the devices are exactly those with this tag. */
  tag: string | undefined
  /** A selector instead of a list of devices. */
  where?: string | undefined
  /** Further options. */
  release?: RunOptions | undefined
}

type CallText = {
  /** The text to copy. */
  whole: string
  /** The shown text, which has only the first of many devices. */
  shown: string
}

/** More devices than this are passed as input, one per line. */
const inline = 8

export const callTexts = { curl: asCurl, CLI: asCommand, TypeScript: asTypeScript } as const
export type CallKind = keyof typeof callTexts

function asCurl(call: Call): CallText {
  const { url, jobName, deviceIds, where } = call
  if (isReleased(call)) {
    return asRun(
      call,
      `curl -X POST ${shellWord(`${url}/job/api/runs`)} \\\n` +
        `  -H "X-API-Key: $JOBCAST_API_KEY" \\\n  -H 'Content-Type: application/json' \\\n`,
      { inline: '-d', input: '--data-binary @-' },
    )
  }
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
    // Every line begins with a brace, a bracket or two spaces, so none can end the here-document.
    const lines = ids.map((id) => `  ${visibleJson(id)}`).join(',\n')
    const body = `{"jobName":${visibleJson(jobName)},"deviceIds":[\n${lines}${more && `,\n  ${more}`}\n]}`
    return `${head}  --data-binary @- <<'DEVICES'\n${body}\nDEVICES`
  })
}

/** A rollout has fields for which the trigger command has no flags. */
function asCommand(call: Call): CallText {
  const { url, jobName, deviceIds, tag, where } = call
  if (isReleased(call)) {
    const head = `JOBCAST_URL=${shellWord(url)} npx --no-install jobcast api POST /job/api/runs \\\n`
    return asRun(call, head, { inline: '-d', input: '-d -' })
  }
  const head = `JOBCAST_URL=${shellWord(url)} npx --no-install jobcast trigger --wait`
  // A name may begin with a dash, so values are attached to their options, and `--` ends the options.
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

function asTypeScript(call: Call): CallText {
  const { url, jobName, deviceIds, where } = call
  if (isReleased(call)) {
    return cut(targetIds(call), (ids, more) => {
      const list = ids.map((id) => `    ${visibleJson(id)},`).join('\n')
      const targets =
        where === undefined
          ? `{ deviceIds: [\n${list}${more && `\n    ${more}`}\n  ] }`
          : `{ where: ${visibleJson(where)} }`
      return [
        ...clientLines(url),
        `const run = await jobcast.runs.create({`,
        `  jobName: ${visibleJson(jobName)},`,
        `  targets: ${targets},`,
        ...Object.entries(call.release ?? {}).map(([name, value]) => `  ${name}: ${visibleJson(value)},`),
        `})`,
      ].join('\n')
    })
  }
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

function isReleased({ release = {} }: Call): boolean {
  return Object.keys(release).length > 0
}

function targetIds({ where, deviceIds }: Call): readonly string[] {
  return where === undefined ? deviceIds : []
}

/** POST /job/api/runs with a rollout. Few devices are in the command, many are passed as input. */
function asRun(call: Call, head: string, flags: { inline: string; input: string }): CallText {
  const { jobName, where, release } = call
  const ids = targetIds(call)
  if (ids.length <= inline) {
    const targets = where === undefined ? { deviceIds: ids } : { where }
    return same(`${head}  ${flags.inline} ${shellWord(visibleJson({ jobName, targets, ...release }))}`)
  }
  return cut(ids, (some, more) => {
    const lines = some.map((id) => `  ${visibleJson(id)}`).join(',\n')
    const rest = visibleJson({ jobName, ...release }).slice(1)
    const body = `{"targets":{"deviceIds":[\n${lines}${more && `,\n  ${more}`}\n]},${rest}`
    return `${head}  ${flags.input} <<'DEVICES'\n${body}\nDEVICES`
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
