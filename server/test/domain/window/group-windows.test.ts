import assert from 'node:assert/strict'
import { test } from 'node:test'
import { groupWindowsOf, readGroupWindows } from '../../../src/domain/window/group-windows.ts'

const wheres: Record<string, string> = {
  kiosks: 'tag=kiosk',
  'old-kiosks': 'group=kiosks and fw<2.4',
  connected: 'online and tag=kiosk',
  away: 'not online',
  lost: 'group=deleted',
}
const find = async (groupNames: string[]) =>
  groupNames.flatMap((groupName) => {
    const where = wheres[groupName]
    return where === undefined ? [] : [{ groupName, where }]
  })
const device = {
  ...{ deviceId: 'd1', deviceName: 'd1', tags: ['kiosk'], online: false },
  ...{ attributes: {}, reportedAttributes: { fw: '2.3' } },
}

test('the windows of a device are those of its groups: online counts as true, a lost group as empty', async () => {
  const named = Object.entries(wheres).map(([groupName, where]) => {
    return { groupName, where, windowName: `w-${groupName}` }
  })
  const groups = await readGroupWindows(named, find)
  const namesOf = (of: typeof device) => groupWindowsOf(of, groups).map(({ windowName }) => windowName)
  assert.deepEqual(namesOf(device), ['w-kiosks', 'w-old-kiosks', 'w-connected'])
  const updated = { ...device, reportedAttributes: { fw: '2.4' } }
  assert.deepEqual(namesOf(updated), ['w-kiosks', 'w-connected'])
  assert.deepEqual(namesOf({ ...device, tags: [] }), [])
})
