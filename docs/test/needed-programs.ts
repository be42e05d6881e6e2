import { spawnSync } from 'node:child_process'

// Examples are for a shell with curl; a machine may be without.
const missing = ['bash', 'curl'].find((program) => spawnSync(program, ['--version']).error)
export const skip = missing === undefined ? false : `there is no ${missing} here`

/** Of pages whose programs are in another language. */
const neededBy: Readonly<Record<string, string>> = { 'docs/guides/call-from-python.md': 'python3' }

/** For the `skip` of a test of these pages. */
export function lacking(pages: readonly string[]): string | false {
  const needed = pages.flatMap((page) => neededBy[page] ?? [])
  const lacks = needed.find((program) => spawnSync(program, ['--version']).status !== 0)
  return lacks === undefined ? false : `there is no ${lacks} here`
}
