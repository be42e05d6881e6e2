// The reporter of a process of tests: sends what became of each file to the runner, over the channel between the two
// processes. Nobody has to read what a test or a child of it prints.

import { readFileSync } from 'node:fs'
import type { TestEvent } from 'node:test/reporters'
import { inspect } from 'node:util'

type Failure = {
  /** From the outermost test to the one that failed. */
  title: string
  text: string
}

export type FileReport = {
  file: string
  seconds: number
  /** Of this process and of the children that have ended; undefined where the system does not tell. */
  cpuSeconds: number | undefined
  passed: number
  failures: Failure[]
  skipped: { title: string; reason: string }[]
}

type TestError = Error & { failureType?: string }

/** Each file is a suite of its own (run-files.ts), so its end is the end of a suite that is in no other. */
export default async function* reportFiles(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  let report = newReport()
  let startedCpu = cpuSeconds()
  const outer: string[] = []
  for await (const { type, data } of source) {
    if (type === 'test:start') outer[data.nesting] = data.name
    // Of the process, such as an error that was thrown when its test had ended.
    if (type === 'test:diagnostic' && data.nesting === 0 && data.level === 'error') {
      process.stderr.write(`${data.message}\n`)
    }
    if (type !== 'test:pass' && type !== 'test:fail') continue
    const isSuite = data.details.type === 'suite'
    const title = [...outer.slice(1, data.nesting), ...(data.nesting > 0 ? [data.name] : [])].join(' > ')
    if (type === 'test:fail') {
      const error = data.details.error as TestError
      if (error.failureType !== 'subtestsFailed') report.failures.push({ title, text: textOf(error) })
    } else if (data.skip !== undefined) {
      report.skipped.push({ title, reason: typeof data.skip === 'string' ? data.skip : '' })
    } else if (!isSuite) report.passed++
    if (data.nesting > 0) continue
    report.file = data.name
    report.seconds = data.details.duration_ms / 1000
    const usedCpu = cpuSeconds()
    if (usedCpu !== undefined && startedCpu !== undefined) report.cpuSeconds = usedCpu - startedCpu
    process.send?.(report)
    report = newReport()
    startedCpu = usedCpu
  }
  yield ''
}

function newReport(): FileReport {
  return { file: '', seconds: 0, cpuSeconds: undefined, passed: 0, failures: [], skipped: [] }
}

/** What node:test wraps around an error says nothing. */
function textOf(error: TestError): string {
  return inspect(error.cause ?? error, { colors: false, depth: 5, maxStringLength: 20_000 })
}

/** Hundredths of seconds: of this process in user and system mode, then the same of its children. */
function cpuSeconds(): number | undefined {
  try {
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)?.split(' ') ?? []
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / 100
  } catch {
    return undefined
  }
}
