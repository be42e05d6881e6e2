// The reporter of a test process: sends the result of each file to the runner over the IPC channel, independent of what
// tests or their children print.

import { readFileSync } from 'node:fs'
import type { TestEvent } from 'node:test/reporters'
import { inspect } from 'node:util'

type Failure = {
  /** Titles from the outermost test to the one that failed. */
  title: string
  text: string
}

export type FileReport = {
  file: string
  seconds: number
  /** CPU time of this process and of its ended children; undefined if the system does not report it. */
  cpuSeconds: number | undefined
  passed: number
  failures: Failure[]
  skipped: { title: string; reason: string }[]
}

type TestError = Error & { failureType?: string }

/** Each file is a top-level suite (run-files.ts), so the end of such a suite is the end of a file. */
export default async function* reportFiles(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  let report = newReport()
  let startedCpu = cpuSeconds()
  const outer: string[] = []
  for await (const { type, data } of source) {
    if (type === 'test:start') outer[data.nesting] = data.name
    // An error of the process, for example one thrown after its test had ended.
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

/** The wrapper that node:test puts around an error has no information. */
function textOf(error: TestError): string {
  return inspect(error.cause ?? error, { colors: false, depth: 5, maxStringLength: 20_000 })
}

/** Sums the hundredths of seconds of this process in user and system mode, and those of its children. */
function cpuSeconds(): number | undefined {
  try {
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)?.split(' ') ?? []
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / 100
  } catch {
    return undefined
  }
}
