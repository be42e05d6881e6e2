import { spawnSync } from 'node:child_process'

// Examples are for a shell with curl; a machine may be without.
const missing = ['bash', 'curl'].find((program) => spawnSync(program, ['--version']).error)
export const skip = missing === undefined ? false : `there is no ${missing} here`
