// Credentials of devices in every store.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { TestContext } from 'node:test'
import type { DeviceToken } from '../../src/domain/device/ports/devices.ts'
import { devicePut, momentAt, type StoreUnderTest, seedOwner, startedAt } from './store-under-test.ts'

function newToken(after = 0): DeviceToken {
  const tokenHash = Uint8Array.from({ length: 32 }, (_, index) => (index * 31 + after) % 256)
  return { tokenId: randomUUID(), tokenHash, at: startedAt + after, createdBy: 'key:k1' }
}

export async function exerciseCredentials(t: TestContext, underTest: StoreUnderTest): Promise<void> {
  const { store } = underTest

  await t.test('a token is found by its id, and only while it is the one the device has', async () => {
    const { ownerNo } = await seedOwner(store)
    const [first, second] = [newToken(1), newToken(2)]
    const device = { ownerNo, deviceId: 'd1' }
    const found = async ({ tokenId }: DeviceToken) => {
      const credential = await store.findDeviceByToken({ tokenId })
      return credential && { ...credential, tokenHash: [...credential.tokenHash] }
    }
    const as = ({ tokenHash }: DeviceToken) => ({ ...device, tokenHash: [...tokenHash] })
    assert.equal(await found(first), undefined)
    assert.equal(await store.setDeviceToken({ ownerNo, deviceId: 'd1', token: first, at: first.at }), true)
    assert.deepEqual(await found(first), as(first))
    await store.setDeviceToken({ ownerNo, deviceId: 'd1', token: second, at: second.at })
    assert.deepEqual([await found(first), await found(second)], [undefined, as(second)])
    assert.equal((await store.getDevice({ ownerNo, deviceId: 'd1' }))?.credentialCreatedAt, second.at)

    assert.equal(
      await store.setDeviceToken({ ownerNo, deviceId: 'd1', token: null, at: startedAt + 3 }),
      true,
    )
    assert.deepEqual([await found(first), await found(second)], [undefined, undefined])
    assert.equal((await store.getDevice({ ownerNo, deviceId: 'd1' }))?.credentialCreatedAt, null)
    const third = newToken(4)
    await store.setDeviceToken({ ownerNo, deviceId: 'd1', token: third, at: third.at })
    assert.deepEqual(await found(third), as(third))

    await store.deleteDevice({ ownerNo, deviceId: 'd1', moment: momentAt(startedAt + 5), actor: 'key k1' })
    assert.equal(await found(third), undefined)
    await store.putDevices([devicePut(ownerNo, 'd1')])
    assert.equal(await found(third), undefined)
  })

  await t.test('a token of a device that does not exist is not kept', async () => {
    const [mine, theirs] = [await seedOwner(store), await seedOwner(store, { devices: ['theirs'] })]
    for (const deviceId of ['nobody', 'theirs']) {
      const token = newToken()
      assert.equal(
        await store.setDeviceToken({ ownerNo: mine.ownerNo, deviceId, token, at: token.at }),
        false,
      )
      assert.equal(await store.findDeviceByToken({ tokenId: token.tokenId }), undefined)
    }
    assert.equal(
      await store.setDeviceToken({ ownerNo: mine.ownerNo, deviceId: 'nobody', token: null, at: startedAt }),
      false,
    )
    assert.equal(
      (await store.getDevice({ ownerNo: theirs.ownerNo, deviceId: 'theirs' }))?.credentialCreatedAt,
      null,
    )
  })

  await t.test(
    'a certificate authenticates a device by the name or the id of its owner, with or without a token',
    async () => {
      const ownerName = `name ${randomUUID()}`
      const ownerId = `ow_${randomUUID()}`
      const owner = await store.createOwner({ ownerId, ownerName, createdAt: startedAt })
      assert.ok(owner !== 'name-taken')
      const { ownerNo } = owner
      await store.putDevices([devicePut(ownerNo, 'd1'), devicePut(ownerNo, 'd2')])
      const token = newToken()
      await store.setDeviceToken({ ownerNo, deviceId: 'd2', token, at: token.at })
      for (const name of [ownerName, ownerId]) {
        for (const deviceId of ['d1', 'd2']) {
          assert.deepEqual(await store.findDeviceByCertificate({ ownerName: name, deviceId }), {
            ownerNo,
            deviceId,
          })
        }
        assert.equal(await store.findDeviceByCertificate({ ownerName: name, deviceId: 'nobody' }), undefined)
        assert.equal(
          await store.findDeviceByCertificate({ ownerName: name.toUpperCase(), deviceId: 'd1' }),
          undefined,
        )
      }
      assert.equal(await store.findDeviceByCertificate({ ownerName: 'nobody', deviceId: 'd1' }), undefined)
      assert.equal(await store.findDeviceByCertificate({ ownerName: '', deviceId: 'd1' }), undefined)
    },
  )

  await t.test(
    'no certificate authenticates a revoked device, also with a token, until they are allowed or it is a new device',
    async () => {
      const { ownerNo, ownerId } = await seedOwner(store)
      const find = (deviceId: string) => store.findDeviceByCertificate({ ownerName: ownerId, deviceId })
      for (const deviceId of ['d1', 'd2'])
        await store.setDeviceToken({ ownerNo, deviceId, token: null, at: startedAt })
      assert.deepEqual([await find('d1'), await find('d2')], [undefined, undefined])
      assert.deepEqual(await find('d3'), { ownerNo, deviceId: 'd3' })
      await store.putDevices([devicePut(ownerNo, 'd1', 'renamed')])
      assert.equal(await find('d1'), undefined)
      const token = newToken()
      await store.setDeviceToken({ ownerNo, deviceId: 'd1', token, at: token.at })
      assert.equal(await find('d1'), undefined)
      const device = async () => {
        const found = await store.getDevice({ ownerNo, deviceId: 'd1' })
        return [found?.credentialCreatedBy, found?.certificateRevokedAt]
      }
      assert.deepEqual(await device(), ['key:k1', startedAt])
      assert.equal(await store.allowDeviceCertificate({ ownerNo, deviceId: 'd1', at: startedAt }), true)
      assert.deepEqual(await find('d1'), { ownerNo, deviceId: 'd1' })
      assert.deepEqual(await device(), ['key:k1', null])
      assert.equal(await store.allowDeviceCertificate({ ownerNo, deviceId: 'd1', at: startedAt }), true)
      assert.equal(await store.allowDeviceCertificate({ ownerNo, deviceId: 'nobody', at: startedAt }), false)
      await store.deleteDevice({ ownerNo, deviceId: 'd2', moment: momentAt(startedAt), actor: 'key k1' })
      assert.equal(await find('d2'), undefined)
      await store.putDevices([devicePut(ownerNo, 'd2')])
      assert.deepEqual(await find('d2'), { ownerNo, deviceId: 'd2' })
    },
  )

  await t.test('an owner named like the id of another does not replace it', async () => {
    const ownerId = `ow_${randomUUID()}`
    const idOfOther = `ow_${randomUUID()}`
    const other = await store.createOwner({
      ownerId: idOfOther,
      ownerName: randomUUID(),
      createdAt: startedAt,
    })
    const namesake = await store.createOwner({ ownerId, ownerName: idOfOther, createdAt: startedAt })
    assert.ok(other !== 'name-taken' && namesake !== 'name-taken')
    for (const { ownerNo } of [other, namesake]) {
      await store.putDevices([devicePut(ownerNo, 'd1'), devicePut(ownerNo, 'revoked')])
    }
    await store.putDevices([devicePut(namesake.ownerNo, 'only theirs')])
    await store.setDeviceToken({ ownerNo: other.ownerNo, deviceId: 'revoked', token: null, at: startedAt })
    const find = (deviceId: string) => store.findDeviceByCertificate({ ownerName: idOfOther, deviceId })
    assert.deepEqual(await find('d1'), { ownerNo: other.ownerNo, deviceId: 'd1' })
    assert.equal(await find('revoked'), undefined)
    assert.equal(await find('only theirs'), undefined)
  })

  await t.test('revocations persist after the store was reopened', async () => {
    const { ownerNo, ownerId } = await seedOwner(store)
    const tokens = [newToken(), newToken()]
    for (const token of tokens) await store.setDeviceToken({ ownerNo, deviceId: 'd1', token, at: token.at })
    await store.setDeviceToken({ ownerNo, deviceId: 'd2', token: null, at: startedAt })
    const again = await underTest.reopen()
    const [replaced, current] = tokens.map((token) => again.findDeviceByToken({ tokenId: token.tokenId }))
    assert.equal(await replaced, undefined)
    assert.equal((await current)?.deviceId, 'd1')
    assert.equal(await again.findDeviceByCertificate({ ownerName: ownerId, deviceId: 'd2' }), undefined)
  })
}
