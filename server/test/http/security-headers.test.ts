import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openTlsServer, tlsHost } from '@jobcast/testkit/open-tls-server'
import { openSharedServer } from '@jobcast/testkit/shared-server'

const plain = await openSharedServer()
const tls = await openTlsServer()

for (const path of ['/job/api/jobs', '/job/api/nothing', '/things/d1/jobs']) {
  test(`${path} is kept by no cache, and taken for nothing but what it is`, async () => {
    const { headers } = await plain.call('GET', path)
    assert.equal(headers.get('cache-control'), 'no-store')
    assert.equal(headers.get('x-content-type-options'), 'nosniff')
    assert.equal(headers.get('strict-transport-security'), null)
  })
}

test('over TLS the response has Strict-Transport-Security', async () => {
  const response = await fetch(`https://${tlsHost}:${new URL(tls.http).port}/livez`)
  assert.equal(response.headers.get('strict-transport-security'), 'max-age=31536000')
})
