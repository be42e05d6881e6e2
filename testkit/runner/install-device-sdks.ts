// Installs the device clients (AWS's SDKs) before the checks and tests. Only tests of devices need them, so that they are not
// downloaded just to start Jobcast.

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
