// Completion, run by bash itself.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { execStates } from '../src/flags/states.ts'
import { dataFolder, runJobcast } from './run-jobcast.ts'

const cases: { typed: string[]; gives: string[] }[] = [
  { typed: ['tri'], gives: ['trigger'] },
  { typed: ['devices', 're'], gives: ['revoke'] },
  { typed: ['webhooks', 'te'], gives: ['test'] },
  { typed: ['webhooks', 'test', 'w', '--js'], gives: ['--json'] },
  { typed: ['devices', 'ls', '--o'], gives: ['--output', '--online', '--offline'] },
  { typed: ['devices', 'ls', '--tag', 'x', '--on'], gives: ['--online'] },
  { typed: ['devices', 'ls', '--tag', ''], gives: [] },
  { typed: ['webhooks', 'deliveries', 'w', '--state', ''], gives: ['PENDING', 'DELIVERED', 'FAILED'] },
  { typed: ['apply', '-f', 'fleet'], gives: ['fleet.yaml'] },
  { typed: ['completion', ''], gives: ['bash', 'zsh', 'fish', '-h', '--help'] },
  { typed: ['nope', 'tri'], gives: ['trigger'] },
  // A group without a command lists.
  { typed: ['runs', '--jo'], gives: ['--job'] },
  { typed: ['devices', '--tag', 'x', '--off'], gives: ['--offline'] },
  { typed: ['help', 'enr'], gives: ['enrollments'] },
  // As bash splits --state=FA.
  { typed: ['executions', 'ls', '--state', '=', 'FA'], gives: ['FAILED'] },
  { typed: ['executions', '--state', '='], gives: [...execStates] },
  { typed: ['keys', 'new', 'x', '--scope', 'M'], gives: ['MANAGE'] },
  { typed: ['runs', 'get', '--output', 'j'], gives: ['json', 'jsonpath='] },
  { typed: ['api', 'P'], gives: ['POST', 'PUT', 'PATCH'] },
]

test('bash loads the script and completes commands, flags, values and files', async (t) => {
  const { code, stdout, stderr } = await runJobcast(['completion', 'bash'])
  assert.equal(code, 0, stderr)
  const folder = dataFolder(t)
  writeFileSync(join(folder, 'script'), stdout)
  writeFileSync(join(folder, 'fleet.yaml'), '')
  // One shell for all; a word of its own, which nobody types, stands behind each case.
  const program = `source ./script && complete -p jobcast >/dev/null || exit 1
    COMP_WORDS=(jobcast)
    for word; do
      if [ "$word" != END ]; then COMP_WORDS+=("$word"); continue; fi
      COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); COMPREPLY=()
      _jobcast; printf '%s\\n' "\${COMPREPLY[@]}" END
      COMP_WORDS=(jobcast)
    done`
  const typed = cases.flatMap((each) => [...each.typed, 'END'])
  const printed = execFileSync('bash', ['-c', program, 'bash', ...typed], { cwd: folder, encoding: 'utf8' })
  const found = printed.split('END\n')
  assert.equal(found.pop(), '')
  assert.deepEqual(
    found.map((lines, index) => [cases[index]?.typed.join(' '), lines.split('\n').filter(Boolean)]),
    cases.map(({ typed, gives }) => [typed.join(' '), gives]),
  )
})

test('bash completes npx --no-install jobcast, and nothing where npx might fetch the program', async (t) => {
  const { stdout } = await runJobcast(['completion', 'bash'])
  const folder = dataFolder(t)
  writeFileSync(join(folder, 'script'), stdout)
  const typed = (...words: string[]) => {
    const program = `source ./script && complete -p npx >/dev/null || exit 1
      COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _jobcast_npx; printf '%s\\n' "\${COMPREPLY[@]}"`
    const printed = execFileSync('bash', ['-c', program, 'bash', ...words], { cwd: folder, encoding: 'utf8' })
    return printed.split('\n').filter(Boolean)
  }
  assert.deepEqual(typed('npx', '--no-install', 'jobcast', 'tri'), ['trigger'])
  assert.deepEqual(typed('npx', '--quiet', '--no-install', 'jobcast', 'devices', 'ls', '--on'), ['--online'])
  assert.deepEqual(typed('npx', 'jobcast', 'tri'), [])
  assert.deepEqual(typed('npx', '--no-install', 'other', 'tri'), [])
  assert.deepEqual(typed('npx', '--no-install', 'jobcast'), [])
  assert.deepEqual(typed('npx', '--no-in'), [])
})

test('every script has every command and flag, and correct quoting', async () => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { code, stdout } = await runJobcast(['completion', shell])
    assert.equal(code, 0)
    for (const word of ['trigger', 'enrollments', 'backup', 'max-devices', 'api-key-stdin', 'prune']) {
      assert.ok(stdout.includes(word), `${shell}: ${word}`)
    }
  }
  const { stdout: zsh } = await runJobcast(['completion', 'zsh'])
  // A word in single quotes is followed by a space or the end of the list.
  for (const [, list = ''] of zsh.matchAll(/found=\((.*)\) ;;/g)) {
    assert.match(list, /^(?:'[^']*'(?:\\''[^']*')*(?: |$))*$/)
  }
  assert.equal((await runJobcast(['completion', 'csh'])).code, 2)
})
