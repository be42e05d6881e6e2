// The mark of a folder of contents: whole or not there.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import { temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { claimFolder } from '../../../src/store/files/claim-folder.ts'

const module = new URL('../../../src/store/files/claim-folder.ts', import.meta.url).href

/** In a process that can create files, but write nothing into them. */
function claimWithoutRoom(folder: string) {
  const program = `
    const { claimFolder } = await import(${JSON.stringify(module)})
    await claimFolder(${JSON.stringify(folder)}, 'ow_1').catch(({ code }) => console.log(code))`
  const flags = ['--input-type=module', '--eval', program]
  const shell = 'trap "" XFSZ; ulimit -f 0; exec "$@"'
  return spawnSync('sh', ['-c', shell, 'sh', process.execPath, ...flags], { encoding: 'utf8' })
}

test('where the mark cannot be written nothing is left of it', async (t) => {
  const folder = temporaryFolder(t)
  for (let times = 0; times < 2; times++) {
    const { stdout, stderr } = claimWithoutRoom(folder)
    assert.equal(stdout, 'EFBIG\n', stderr)
    assert.deepEqual(readdirSync(folder), [])
  }
  assert.equal(await claimFolder(folder, 'ow_1'), true)
  assert.deepEqual(readdirSync(folder), ['installation'])
})
