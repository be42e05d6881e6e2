// Before the checks and tests: the device clients (AWS's SDKs), which only the tests of devices need. Whoever just starts Jobcast does
// not download them.

import { execFileSync } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'

const folder = join(import.meta.dirname, '../../server/test/devices')

if (!isCurrent()) {
  execFileSync('npm', ['ci', '--silent'], {
    cwd: folder,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  })
}

function isCurrent(): boolean {
  const installed = join(folder, 'node_modules/.package-lock.json')
  return (
    existsSync(installed) &&
    statSync(installed).mtimeMs >= statSync(join(folder, 'package-lock.json')).mtimeMs
  )
}
