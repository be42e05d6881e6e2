// Every command that the console offers for copying, pasted into a real shell, with names that try to become commands.
// Fake programs that record their arguments replace npx and curl; nothing else may run.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { newTemporaryFolder, removeAfter } from '@jobcast/testkit/temporary-folder'
import { agentLine, enrollLine, keyLine, shellWord, visibleJson } from '../src/parts/command-line.ts'
import { isPossibleName } from '../src/parts/is-possible-name.ts'
import { callTexts } from '../src/screens/trigger/call-texts.ts'

const url = 'http://127.0.0.1:8080'

/** Each would leave a file behind if a shell ran what is in it. */
const hostile = [
  'plain-1',
  'DEVICES',
  'EOF',
  '-n',
  '--help',
  '--',
  "it's",
  'a b',
  '"; touch ran; "',
  "'; touch ran; '",
  '$(touch ran)',
  '`touch ran`',
  '; touch ran',
  '& touch ran',
  '| touch ran',
  '> ran',
  'a\ntouch ran\nb',
  '\\',
  '\\\n',
  '%s%n',
  '!!',
  '~',
  '*',
  'ünïcode-名前',
  'left\u202eright\u2066x',
  'zero\u200bwidth',
  '@/etc/passwd',
]

type Ran = {
  program: string
  args: string[]
  input: string
  url: string
  apiKey: string
  deviceToken: string
}

/** The commands recorded by the fake programs, and the files left by the shell. */
function paste(t: TestContext, command: string): { ran: Ran[]; files: string[] } {
  const folder = newTemporaryFolder()
  removeAfter(t, folder)
  const [bin, records, home] = ['bin', 'records', 'home'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  for (const path of [bin, records, home]) mkdirSync(path)
  for (const program of ['npx', 'curl', 'jobcast'])
    writeProgram(join(bin, program), recorder(program, records))
  writeProgram(join(bin, 'hostname'), '#!/bin/sh\necho machine\n')
  writeProgram(join(bin, 'mkdir'), '#!/bin/sh\nexec /bin/mkdir "$@"\n')
  writeProgram(join(bin, 'touch'), `#!/bin/sh\n: > '${join(home, 'ran')}'\n`)
  execFileSync('/bin/sh', {
    input: `${command}\n`,
    cwd: home,
    env: { PATH: bin, HOME: home, JOBCAST_API_KEY: 'from-the-environment' },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const recorded = readdirSync(records).filter((name) => !name.endsWith('.input'))
  return { ran: recorded.map((name) => readRecord(join(records, name))), files: readdirSync(home) }
}

function writeProgram(path: string, text: string): void {
  writeFileSync(path, text)
  chmodSync(path, 0o755)
}

/** Reads its input only where it is told to: a pasted line shares its input with what is pasted after it. */
function recorder(program: string, records: string): string {
  return `#!/bin/sh
printf '%s\\0' ${program} "$JOBCAST_URL" "$JOBCAST_API_KEY" "$JOBCAST_DEVICE_TOKEN" "$@" > '${records}'/$$
case " $* " in *' @- '* | *'=- '*) /bin/cat > '${records}'/$$.input ;; esac
`
}

function readRecord(path: string): Ran {
  const [program = '', url = '', apiKey = '', deviceToken = '', ...args] = readFileSync(path, 'utf8')
    .split('\0')
    .slice(0, -1)
  const input = existsSync(`${path}.input`) ? readFileSync(`${path}.input`, 'utf8') : ''
  return { program, args, input, url, apiKey, deviceToken }
}

/** Exactly one program ran, and no file is there but those that are expected. */
function pasteOne(t: TestContext, command: string, expectedFiles: string[] = []): Ran {
  const { ran, files } = paste(t, command)
  assert.deepEqual(files, expectedFiles, command)
  assert.equal(ran.length, 1, command)
  return ran[0] as Ran
}

const many = [...hostile, ...Array.from({ length: 20 }, (_, index) => `d${index}`)]

test('the curl command sends exactly these names, few or many', (t) => {
  for (const deviceIds of [hostile.slice(0, 8), hostile.slice(8, 16), hostile.slice(16, 24), many]) {
    for (const jobName of ['restart', '$(touch ran)', "'\ntouch ran\n", '-d']) {
      const { whole } = callTexts.curl({ url, jobName, deviceIds, tag: undefined })
      const { program, args, input } = pasteOne(t, whole)
      assert.equal(program, 'curl')
      assert.ok(args.includes('X-API-Key: from-the-environment'))
      assert.ok(args.includes(`${url}/job/api/jobs/execute`))
      assert.deepEqual(JSON.parse(input || (args.at(-1) ?? '')), { jobName, deviceIds })
    }
  }
})

test('the jobcast command has each name as one argument, or one line of its input', (t) => {
  const jobName = '--json'
  const few = hostile.slice(0, 8)
  const { args, url: given } = pasteOne(
    t,
    callTexts.CLI({ url, jobName, deviceIds: few, tag: undefined }).whole,
  )
  const options = few.map((id) => `--device=${id}`)
  assert.deepEqual(args, ['--no-install', 'jobcast', 'trigger', '--wait', ...options, '--', jobName])
  assert.equal(given, url)
  // Names have no control characters, and those of the address that have some are left out.
  const deviceIds = many.filter(isPossibleName)
  const piped = pasteOne(t, callTexts.CLI({ url, jobName, deviceIds, tag: undefined }).whole)
  assert.deepEqual(piped.args, [
    '--no-install',
    'jobcast',
    'trigger',
    '--wait',
    '--devices-file=-',
    '--',
    jobName,
  ])
  assert.deepEqual(piped.input.split('\n').slice(0, -1), deviceIds)
  for (const tag of hostile) {
    const { args: byTag } = pasteOne(t, callTexts.CLI({ url, jobName, deviceIds: few, tag }).whole)
    assert.deepEqual(byTag, ['--no-install', 'jobcast', 'trigger', '--wait', `--tag=${tag}`, '--', jobName])
  }
})

test('the commands for a device, an enrollment and a key run one program, with the unchanged name', (t) => {
  for (const name of hostile) {
    const agent = pasteOne(t, agentLine(url, name, 'jd_1'), ['handlers'])
    assert.deepEqual(agent.args, [
      '--no-install',
      'jobcast',
      'agent',
      `--server=${url}`,
      `--device=${name}`,
      '--handlers=handlers',
    ])
    assert.equal(agent.deviceToken, 'jd_1')
    const enroll = pasteOne(t, enrollLine(url, name, 'je_1'))
    assert.ok(enroll.args.includes(`--device=${name}machine`), name)
  }
  const { apiKey } = pasteOne(t, `${keyLine('jc_$(touch ran)')}\nnpx`)
  assert.equal(apiKey, 'jc_$(touch ran)')
})

test('every text is one word of a shell', (t) => {
  for (const text of [...hostile, '', ' ', 'a\u0003b', '\u001b]0;x\u0007', '\t']) {
    assert.deepEqual(pasteOne(t, `npx ${shellWord(text)}`).args, [text], JSON.stringify(text))
  }
})

test('copied text contains nothing that changes the text direction or moves the cursor', () => {
  const names = ['left\u202eright', 'a\u0007b', 'c\u009bd', 'e\u2028f']
  for (const kind of ['curl', 'CLI', 'TypeScript'] as const) {
    const { whole, shown } = callTexts[kind]({
      url,
      jobName: names[0] ?? '',
      deviceIds: names,
      tag: undefined,
    })
    for (const text of [whole, shown]) assert.doesNotMatch(text.replaceAll('\n', ''), /[\p{Cc}\p{Cf}\p{Zl}]/u)
  }
  assert.deepEqual(JSON.parse(visibleJson(names)), names)
})

test('the fake programs would notice an injected command', (t) => {
  assert.deepEqual(paste(t, 'npx $(touch ran)').files, ['ran'])
})
