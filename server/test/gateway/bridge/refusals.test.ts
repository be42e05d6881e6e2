// A broker that refuses the bridge or a subscription: the error is reported, and retried.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { dynamicSecurity, openMosquitto, withoutMosquitto } from '@jobcast/testkit/mosquitto'
import { temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { bridgeTo } from './bridge-under-test.ts'
import { openLink } from './open-link.ts'

const options = { skip: withoutMosquitto }

test('a wrong password is said once, and tried again until it is right', options, async (t) => {
  const broker = await openMosquitto(t, { users: { jobcast: 'another' } })
  const { link, errors } = openLink(t, bridgeTo(broker.url, { user: 'jobcast', password: 'secret' }))
  await waitUntil('it is said', () => errors.length > 0)
  assert.equal(link.isUp, false)
  broker.setPassword('jobcast', 'secret')
  await waitUntil('it is connected', () => link.isUp)
  assert.deepEqual(errors, ['Connection refused: Not authorized'])
  assert.equal(link.lastError, undefined)
})

test('a refused subscription is said with its topic, and tried again', {
  skip:
    withoutMosquitto || (dynamicSecurity === undefined && 'mosquitto has no dynamic security plugin here'),
}, async (t) => {
  const file = join(temporaryFolder(t), 'access.json')
  const allowSubscriptions = (subscribe: boolean) => {
    const others = { publishClientSend: true, publishClientReceive: true, unsubscribe: true }
    writeFileSync(file, JSON.stringify({ defaultACLAccess: { ...others, subscribe } }), { mode: 0o600 })
  }
  allowSubscriptions(false)
  const settings = [`plugin ${dynamicSecurity}`, `plugin_opt_config_file ${file}`]
  const broker = await openMosquitto(t, { settings })
  const { link, errors } = openLink(t, bridgeTo(broker.url))
  await waitUntil('it is said', () => errors.length > 0)
  assert.equal(link.isUp, false)
  assert.deepEqual(errors, [
    'the broker refused the subscription to $aws/things/+/jobs/get (Subscribe error: Not authorized)',
  ])
  await broker.end('SIGTERM')
  allowSubscriptions(true)
  await broker.start()
  await waitUntil('it is connected', () => link.isUp)
  assert.equal(link.lastError, undefined)
})
