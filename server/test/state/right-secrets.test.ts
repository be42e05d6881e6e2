import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hashSecret, newSecretText } from '../../src/domain/access/secret-text.ts'
import { RightSecrets } from '../../src/state/right-secrets.ts'

test('only valid secrets are cached, and cached ones are still compared', () => {
  const secrets = new RightSecrets()
  const [one, other] = [newSecretText('jc'), newSecretText('jc')]
  assert.ok(!secrets.matches(one.text, hashSecret(other.text)))
  assert.ok(!secrets.matches(one.text, undefined))
  assert.equal(secrets.size, 0)
  for (let times = 0; times < 2; times++) {
    assert.ok(secrets.matches(one.text, hashSecret(one.text)))
    assert.equal(secrets.size, 1)
    assert.equal(secrets.idOf('jc', one.text), one.id)
    assert.equal(secrets.idOf('jd', one.text), undefined)
    assert.ok(!secrets.matches(one.text, hashSecret(other.text)))
    assert.ok(!secrets.matches(one.text, undefined))
  }
  assert.equal(secrets.idOf('jc', `${one.text}x`), undefined)
})

test('the cache is bounded', () => {
  const secrets = new RightSecrets(3)
  for (let count = 0; count < 10; count++) {
    const { text } = newSecretText('jd')
    assert.ok(secrets.matches(text, hashSecret(text)))
    assert.ok(secrets.size <= 3)
  }
})
