// Errors in a page are detected.

import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { after, type TestContext, test } from 'node:test'
import { openCommandLine } from './command-line.ts'
import { blocksOf } from './markdown.ts'
import { skip } from './needed-programs.ts'
import { openSandbox, type Sandbox } from './open-sandbox.ts'
import { runPage } from './run-page.ts'

const options = { skip, timeout: 600_000 }
const fence = '```'
const block = (info: string, ...lines: string[]) => [fence + info, ...lines, fence].join('\n')

// biome-ignore format: a line each
const wrong: readonly { page: string; says: RegExp }[] = [
  { page: block('sh', 'false', 'echo too late'), says: /^line 2: it ended with code 1:\n$/ },
  { page: block('sh', 'false | cat'), says: /code 1/ },
  { page: block('sh', 'echo $UNHEARD_OF'), says: /UNHEARD_OF: unbound variable/ },
  { page: block('sh', 'curl $JOBCAST_URL/job/api/jobs/none -H "X-API-Key: $JOBCAST_API_KEY"'), says: /J-301/ },
  { page: block('sh', 'echo see http://127.0.0.1:8080', 'false'), says: /see http:\/\/127.0.0.1:8080\n/ },
  { page: block('sh fails', 'true'), says: /was to fail, and did not/ },
  { page: block('sh failing', 'true'), says: /no rule for "failing"/ },
  { page: `${block('sh terminal=2', 'exit 3')}\n${block('text terminal=2', 'hello')}`, says: /line 5: it ended with code 3/ },
  { page: block('sh terminal=2', 'exit 3'), says: /^the end: in terminal=2: it ended with code 3/ },
  { page: block('', 'npm start'), says: /no rule for a block of ""/ },
  { page: block('python', 'print(1)'), says: /a block of "python"/ },
  { page: block('text', 'hello'), says: /no block above it/ },
  { page: block('text terminal=2', 'hello'), says: /nothing was started in terminal=2/ },
  { page: `${block('sh', 'echo hello')}\n${block('text', 'good bye')}`, says: /line 5: this is printed instead:\nhello/ },
  { page: `${block('sh', `echo '{"a":1,"b":2}'`)}\n${block('json', '{"a":1}')}`, says: /is printed instead/ },
  { page: block('ts', `throw new Error('no')`), says: /Error: no/ },
  { page: block('yaml fleet.yaml', 'jobs: {}'), says: /no block below it uses fleet\.yaml/ },
  { page: block('yaml .github/workflows/a.yml', 'jobs: {a: {steps: [{run: "false"}]}}'), says: /code 1/ },
  { page: block('json Event', '{"eventId":"1"}'), says: /as Event: / },
  { page: block('js of=docs/examples/webhook-receiver.mjs', 'nothing()'), says: /has no such line: nothing\(\)/ },
]

type Close = () => unknown

let shared: Promise<Sandbox> | undefined
const closes: Close[] = []
after(async () => {
  for (const close of closes) await close()
})

/** One for all but the last test, which looks at what is left of it. */
function sharedSandbox(): Promise<Sandbox> {
  shared ??= openSandbox({ after: (close: Close) => closes.push(close) } as unknown as TestContext)
  return shared
}

test('whatever is wrong with a page fails, and the line is named', options, async () => {
  const sandbox = await sharedSandbox()
  for (const { page, says } of wrong) {
    await assert.rejects(runPage(blocksOf(page), sandbox), ({ message }: Error) => {
      assert.match(message, /^(?:line \d+|the end): /)
      assert.match(message, says)
      return true
    })
  }
})

test(
  'what a block sets is there in the next one, and in a terminal that is opened later',
  options,
  async () => {
    const page = [
      block('sh', 'export ONE=1', 'two() { echo 2; }'),
      block('sh', 'echo "$ONE" $(two)', 'date +%FT%TZ'),
      block('text', '1 2', '2026-11-15T09:30:00Z'),
      block('sh terminal=2', 'echo "$ONE"; sleep 600'),
      block('text terminal=2', '1'),
      block('sh fails', 'exit 6'),
    ]
    await runPage(blocksOf(page.join('\n')), await sharedSandbox())
  },
)

test('jobcast on a page has exit codes, and standard output and standard error apart', options, async () => {
  const page = [
    block(
      'sh',
      'npx --no-install jobcast jobs --json >out 2>err',
      `node -e 'JSON.parse(fs.readFileSync("out"))'`,
      '[ ! -s err ]',
    ),
    block(
      'sh',
      'npx --no-install jobcast runs --limit nope >out 2>err || echo "code $?"',
      '[ -s err ] && [ ! -s out ]',
    ),
    block('text', 'code 2'),
    block(
      'sh',
      `npx --no-install jobcast devices put kiosk-1 --name 'A name' --tag two && npx --no-install jobcast devices get kiosk-1`,
    ),
    block('text', '…', 'A name', '…', 'two', '…'),
    block('sh fails', 'npx --no-install jobcast whoami --api-key none'),
  ]
  await runPage(blocksOf(page.join('\n')), await sharedSandbox())
})

test('a command that a page left waiting ends with its terminal', options, async (t) => {
  const page = [
    block('sh terminal=2', 'npx --no-install jobcast events'),
    block('text terminal=2', 'Listening for events'),
  ]
  await t.test('the page', async (t) => runPage(blocksOf(page.join('\n')), await openSandbox(t)))
  // The process that ran it is free only when nothing runs in it any more.
  await openCommandLine(t, tmpdir())
})
