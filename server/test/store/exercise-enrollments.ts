// Enrollment in every store. Counting a use and storing the token are atomic.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { TestContext } from 'node:test'
import { steadyInstant } from '../../src/domain/common/instants.ts'
import type { Slice } from '../../src/domain/common/ports/slices.ts'
import type { Store } from '../../src/domain/common/ports/store.ts'
import type { Enrolling, StoredEnrollment } from '../../src/domain/device/ports/enrollments.ts'
import { enrolling, newEnrollment } from './enrolling.ts'
import {
  by,
  createOne,
  devicePut,
  momentAt,
  readAll,
  type StoreUnderTest,
  seedOwner,
  startedAt,
} from './store-under-test.ts'

const minute = 60_000
const failingInstant = startedAt + 13

const ownerOf = async (store: Store, { token }: Enrolling) =>
  (await store.findDeviceByToken({ tokenId: token.tokenId }))?.deviceId

export async function exerciseEnrollments(t: TestContext, underTest: StoreUnderTest): Promise<void> {
  const { store } = underTest
  const kindOf = async (asked: Enrolling) => (await store.enrollDevice(asked)).kind
  const usedOf = async ({ enrollmentId }: StoredEnrollment) =>
    (await store.findEnrollment({ enrollmentId }))?.used

  await t.test(
    'an enrollment is found and listed with everything that was given, by its owner only',
    async () => {
      const [mine, theirs] = [await seedOwner(store), await seedOwner(store)]
      const given = ['e1', 'e2', 'e3'].map((enrollmentId) => newEnrollment(mine.ownerNo, { enrollmentId }))
      const bare = { enrollmentId: 'e4', name: null, tags: [], deviceIdPrefix: 'kiosk-', maxUses: 100_000 }
      given.push(newEnrollment(mine.ownerNo, bare))
      for (const each of given) {
        assert.deepEqual(await store.createEnrollment(each), { ...each, used: 0, revokedAt: null })
      }
      const listOf = (ownerNo: number) =>
        readAll((slice: Slice<string>) => store.listEnrollments({ ownerNo, slice }), 2)
      const stored = given.map((each) => ({ ...each, used: 0, revokedAt: null }))
      assert.deepEqual(await listOf(mine.ownerNo), stored)
      assert.deepEqual(await listOf(theirs.ownerNo), [])
      assert.deepEqual(await store.findEnrollment({ enrollmentId: 'e4' }), stored[3])
      assert.equal(await store.findEnrollment({ enrollmentId: 'e5' }), undefined)
    },
  )

  await t.test(
    'the claim of a device is found with its credential, of the device of this owner only',
    async () => {
      const { ownerNo } = await seedOwner(store)
      const enrollment = await store.createEnrollment(newEnrollment(ownerNo, { maxUses: 2 }))
      const claimHash = Buffer.alloc(32, 7)
      const device = { ownerNo, deviceId: 'claimed' }
      assert.equal(await store.findClaim(device), undefined)
      const asked = enrolling(enrollment, 'claimed', { at: startedAt })
      assert.deepEqual(await store.enrollDevice({ ...asked, claimHash }), { kind: 'enrolled' })
      const found = await store.findClaim(device)
      assert.deepEqual([found?.hasCredential, Buffer.from(found?.claimHash ?? [])], [true, claimHash])
      assert.equal(await store.findClaim({ ...device, ownerNo: ownerNo + 1000 }), undefined)
      await store.enrollDevice(enrolling(enrollment, 'other', { at: startedAt }))
      const other = await store.findClaim({ ownerNo, deviceId: 'other' })
      assert.deepEqual(other, { hasCredential: true, claimHash: null })
    },
  )

  await t.test(
    'a device that does not exist is created, with tags and token, and can be triggered at once',
    async () => {
      const { ownerNo, trigger } = await seedOwner(store)
      const enrollment = await store.createEnrollment(newEnrollment(ownerNo))
      const asked = enrolling(enrollment, 'new', { at: startedAt + 1 })
      assert.deepEqual(await store.enrollDevice(asked), { kind: 'enrolled' })
      assert.equal(await ownerOf(store, asked), 'new')
      const device = await store.getDevice({ ownerNo, deviceId: 'new' })
      assert.deepEqual(
        [device?.deviceName, device?.tags, device?.credentialCreatedAt, device?.createdAt],
        ['name of new', ['a', 'b'], startedAt + 1, startedAt + 1],
      )
      const tagged = await store.listDevices({
        ownerNo,
        filter: { tag: 'a' },
        slice: { after: undefined, limit: 9 },
      })
      assert.deepEqual(
        tagged.items.map(({ deviceId }) => deviceId),
        ['new'],
      )
      const run = await createOne(store, trigger(['new']))
      assert.equal(run.devices.at(0)?.deviceName, 'name of new')
      assert.equal(await usedOf(enrollment), 1)
    },
  )

  await t.test('a device without a credential gets one and keeps its name and tags', async () => {
    const { ownerNo } = await seedOwner(store)
    const enrollment = await store.createEnrollment(newEnrollment(ownerNo))
    await store.putDevices([{ ...devicePut(ownerNo, 'd1', 'given name'), tags: ['c'] }])
    const asked = enrolling(enrollment, 'd1')
    assert.equal(await kindOf(asked), 'enrolled')
    assert.equal(await ownerOf(store, asked), 'd1')
    const device = await store.getDevice({ ownerNo, deviceId: 'd1' })
    assert.deepEqual([device?.deviceName, device?.tags], ['given name', ['c']])
  })

  await t.test("another owner's device of the same id is another device", async () => {
    const [mine, theirs] = [await seedOwner(store), await seedOwner(store, { devices: ['theirs'] })]
    const enrollment = await store.createEnrollment(newEnrollment(mine.ownerNo))
    assert.equal(await kindOf(enrolling(enrollment, 'theirs')), 'enrolled')
    assert.equal(
      (await store.getDevice({ ownerNo: theirs.ownerNo, deviceId: 'theirs' }))?.credentialCreatedAt,
      null,
    )
    assert.notEqual(
      (await store.getDevice({ ownerNo: mine.ownerNo, deviceId: 'theirs' }))?.credentialCreatedAt,
      null,
    )
  })

  await t.test(
    'a device id is taken if it has a token, was revoked, or was seen with a certificate',
    async () => {
      const { ownerNo, ownerId } = await seedOwner(store, { devices: ['token', 'revoked', 'seen'] })
      const enrollment = await store.createEnrollment(newEnrollment(ownerNo))
      const { token } = enrolling(enrollment, 'token')
      await store.setDeviceToken({ ownerNo, deviceId: 'token', token, at: startedAt })
      await store.setDeviceToken({ ownerNo, deviceId: 'revoked', token: null, at: startedAt })
      await store.recordPresence([
        {
          ownerNo,
          deviceId: 'seen',
          online: true,
          at: startedAt,
          transport: 'mqtt',
          session: steadyInstant(1),
        },
      ])
      for (const deviceId of ['token', 'revoked', 'seen']) {
        const asked = enrolling(enrollment, deviceId, { claim: 1 })
        assert.equal(await kindOf(asked), 'taken', deviceId)
        assert.equal(await ownerOf(store, asked), undefined)
      }
      assert.equal((await store.findDeviceByToken({ tokenId: token.tokenId }))?.deviceId, 'token')
      assert.equal(
        await store.findDeviceByCertificate({ ownerName: ownerId, deviceId: 'revoked' }),
        undefined,
      )
      assert.equal(await usedOf(enrollment), 0)
    },
  )

  await t.test('a deleted device counts as none', async () => {
    const { ownerNo, trigger } = await seedOwner(store)
    const enrollment = await store.createEnrollment(newEnrollment(ownerNo, { maxUses: 2 }))
    const first = enrolling(enrollment, 'd1', { claim: 1 })
    assert.equal(await kindOf(first), 'enrolled')
    await store.deleteDevice({ ownerNo, deviceId: 'd1', moment: momentAt(startedAt), actor: 'key k1' })
    assert.equal(await ownerOf(store, first), undefined)
    assert.equal(await kindOf(enrolling(enrollment, 'd1', { claim: 1 })), 'enrolled')
    assert.equal(await usedOf(enrollment), 2)
    assert.equal((await createOne(store, trigger(['d1']))).devices.length, 1)
  })

  await t.test('of 20 devices that ask at once exactly as many enroll as there are uses', async () => {
    const { ownerNo } = await seedOwner(store, { devices: [] })
    const enrollment = await store.createEnrollment(newEnrollment(ownerNo, { maxUses: 5 }))
    const all = Array.from({ length: 20 }, (_, index) => enrolling(enrollment, `d${index}`))
    const kinds = await Promise.all(all.map(kindOf))
    assert.equal(kinds.filter((kind) => kind === 'enrolled').length, 5)
    assert.equal(kinds.filter((kind) => kind === 'not-open').length, 15)
    assert.equal(await usedOf(enrollment), 5)
    const { items } = await store.listDevices({ ownerNo, filter: {}, slice: { after: undefined, limit: 99 } })
    assert.deepEqual(
      items.map(({ deviceId }) => deviceId),
      all
        .filter((_, index) => kinds[index] === 'enrolled')
        .map(({ deviceId }) => deviceId)
        .toSorted(),
    )
  })

  await t.test('of 20 that ask at once for the same device one enrolls', async () => {
    const { ownerNo } = await seedOwner(store)
    const enrollment = await store.createEnrollment(newEnrollment(ownerNo, { maxUses: 20 }))
    const all = Array.from({ length: 20 }, (_, claim) => enrolling(enrollment, 'wanted', { claim }))
    const kinds = await Promise.all(all.map(kindOf))
    const owners = await Promise.all(all.map((asked) => ownerOf(store, asked)))
    assert.deepEqual(
      owners.map((owner) => owner !== undefined),
      kinds.map((kind) => kind === 'enrolled'),
    )
    assert.equal(kinds.filter((kind) => kind === 'taken').length, 19)
    assert.equal(await usedOf(enrollment), 1)
  })

  await t.test('no device enrolls after the enrollment has expired or was revoked', async () => {
    const [mine, theirs] = [await seedOwner(store), await seedOwner(store)]
    const enrollment = await store.createEnrollment(newEnrollment(mine.ownerNo, { maxUses: 9 }))
    const { enrollmentId, expiresAt } = enrollment
    const ask = (deviceId: string, at: number) => kindOf(enrolling(enrollment, deviceId, { at, claim: 1 }))
    assert.equal(await ask('in time', expiresAt - 1), 'enrolled')
    for (const deviceId of ['too late', 'in time']) assert.equal(await ask(deviceId, expiresAt), 'not-open')
    assert.equal(await store.getDevice({ ownerNo: mine.ownerNo, deviceId: 'too late' }), undefined)

    assert.equal(
      await store.revokeEnrollment({ ...by, ownerNo: theirs.ownerNo, enrollmentId, at: startedAt + 1 }),
      'unknown',
    )
    assert.equal(await ask('d1', startedAt + 1), 'enrolled')
    assert.equal(
      await store.revokeEnrollment({ ...by, ownerNo: mine.ownerNo, enrollmentId, at: startedAt + 2 }),
      'revoked',
    )
    assert.equal(
      await store.revokeEnrollment({ ...by, ownerNo: mine.ownerNo, enrollmentId, at: startedAt + 3 }),
      'revoked-before',
    )
    for (const deviceId of ['d1', 'd2']) assert.equal(await ask(deviceId, startedAt + 4), 'not-open')
    const found = await store.findEnrollment({ enrollmentId })
    assert.deepEqual([found?.revokedAt, found?.used], [startedAt + 2, 2])
    assert.equal(
      await store.revokeEnrollment({
        ...by,
        ownerNo: mine.ownerNo,
        enrollmentId: randomUUID(),
        at: startedAt,
      }),
      'unknown',
    )
    assert.equal(await kindOf(enrolling({ enrollmentId: randomUUID() }, 'd1')), 'not-open')
  })

  await t.test(
    'the same claim gets a new token within ten minutes, and no other use is counted',
    async () => {
      const { ownerNo } = await seedOwner(store)
      const enrollment = await store.createEnrollment(newEnrollment(ownerNo))
      const ask = (at: number, claim?: number) =>
        enrolling(enrollment, 'd1', { at: startedAt + at, ...(claim !== undefined && { claim }) })
      const first = ask(0, 1)
      const again = ask(10 * minute - 1, 1)
      assert.deepEqual([await kindOf(first), await kindOf(again)], ['enrolled', 'enrolled'])
      assert.deepEqual([await ownerOf(store, first), await ownerOf(store, again)], [undefined, 'd1'])
      // It is used up: whoever has another claim, or none, learns nothing of the device.
      for (const other of [ask(1, 2), ask(1)]) assert.equal(await kindOf(other), 'not-open')
      assert.equal(await kindOf(ask(20 * minute, 1)), 'not-open')
      assert.equal(await usedOf(enrollment), 1)
      assert.equal(await ownerOf(store, again), 'd1')
    },
  )

  await t.test(
    'a claim becomes invalid once the owner has created another token, or revoked it',
    async () => {
      const { ownerNo } = await seedOwner(store)
      const enrollment = await store.createEnrollment(newEnrollment(ownerNo, { maxUses: 9 }))
      for (const deviceId of ['d1', 'd2']) {
        assert.equal(await kindOf(enrolling(enrollment, deviceId, { claim: 1 })), 'enrolled')
      }
      const { token } = enrolling(enrollment, 'd1')
      await store.setDeviceToken({ ownerNo, deviceId: 'd1', token, at: startedAt })
      await store.setDeviceToken({ ownerNo, deviceId: 'd2', token: null, at: startedAt })
      for (const deviceId of ['d1', 'd2']) {
        assert.equal(await kindOf(enrolling(enrollment, deviceId, { claim: 1 })), 'taken')
      }
      assert.equal((await store.findDeviceByToken({ tokenId: token.tokenId }))?.deviceId, 'd1')
    },
  )

  await t.test('a device that asked without a claim cannot ask again', async () => {
    const { ownerNo } = await seedOwner(store)
    const enrollment = await store.createEnrollment(newEnrollment(ownerNo, { maxUses: 9 }))
    assert.equal(await kindOf(enrolling(enrollment, 'd1')), 'enrolled')
    for (const more of [{}, { claim: 1 }]) {
      assert.equal(await kindOf(enrolling(enrollment, 'd1', more)), 'taken')
    }
  })

  await t.test('uses, claims and devices are the same after the store was reopened', async () => {
    const { ownerNo, trigger } = await seedOwner(store)
    const enrollment = await store.createEnrollment(newEnrollment(ownerNo, { maxUses: 2 }))
    const revoked = await store.createEnrollment(newEnrollment(ownerNo, { maxUses: 2 }))
    await store.revokeEnrollment({ ...by, ownerNo, enrollmentId: revoked.enrollmentId, at: startedAt })
    await store.enrollDevice(enrolling(enrollment, 'new', { claim: 1 }))
    const again = await underTest.reopen()
    const kind = async (asked: Enrolling) => (await again.enrollDevice(asked)).kind
    assert.equal(await kind(enrolling(enrollment, 'new', { claim: 1 })), 'enrolled')
    assert.equal(await kind(enrolling(enrollment, 'new', { claim: 2 })), 'taken')
    assert.equal(await kind(enrolling(enrollment, 'd1')), 'enrolled')
    assert.equal(await kind(enrolling(enrollment, 'd2')), 'not-open')
    assert.equal(await kind(enrolling(revoked, 'd2')), 'not-open')
    assert.equal((await createOne(again, trigger(['new', 'd1']))).devices.length, 2)
  })

  // The last one: from here on the database refuses devices at this instant.
  await t.test('when the device cannot be written no use is counted, and it stays unknown', async () => {
    const { store } = underTest
    const { ownerNo, trigger } = await seedOwner(store)
    const enrollment = await store.createEnrollment(newEnrollment(ownerNo))
    await underTest.failAt(failingInstant)
    await assert.rejects(store.enrollDevice(enrolling(enrollment, 'new', { at: failingInstant })))
    assert.equal((await store.findEnrollment({ enrollmentId: enrollment.enrollmentId }))?.used, 0)
    const [outcome] = await store.createExecutions([trigger(['new'])])
    assert.equal(outcome?.kind, 'unknown-device')
    assert.equal((await store.enrollDevice(enrolling(enrollment, 'new'))).kind, 'enrolled')
  })
}
