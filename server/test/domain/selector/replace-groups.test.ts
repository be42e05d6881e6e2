import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseSelector } from '@jobcast/contract/selector'
import {
  maxDepthOfGroups,
  maxTermsOfGroups,
  replaceGroups,
} from '../../../src/domain/selector/replace-groups.ts'

/** With these groups; `asked` has what each look-up asked for. */
function replace(text: string, groups: Record<string, string> = {}) {
  const asked: string[][] = []
  const replaced = replaceGroups(parseSelector(text), async (groupNames) => {
    asked.push(groupNames)
    return groupNames.flatMap((groupName) => {
      const where = groups[groupName]
      return where === undefined ? [] : [{ groupName, where }]
    })
  })
  return { asked, replaced }
}

async function expect(text: string, groups: Record<string, string>, expected: string): Promise<void> {
  assert.deepEqual(await replace(text, groups).replaced, {
    kind: 'replaced',
    selector: parseSelector(expected),
  })
}

test('groups are replaced by what they stand for, also inside of groups', async () => {
  const groups = { kiosks: 'tag=kiosk', berlin: 'site=berlin and group=kiosks' }
  await expect('group=kiosks', groups, 'tag=kiosk')
  await expect('online or group=berlin', groups, 'online or (site=berlin and tag=kiosk)')
})

test('two negations are none, in and across groups', async () => {
  const groups = { busy: 'not online', quiet: 'not group=busy' }
  await expect('not group=busy', groups, 'online')
  await expect('group=quiet', groups, 'online')
  await expect('not group=quiet', groups, 'not online')
})

test('each group is looked up once, and all of one level together', async () => {
  const groups = { a: 'group=c and group=b', b: 'group=c', c: 'tag=x' }
  const { asked, replaced } = replace('group=a and group=b', groups)
  assert.equal((await replaced).kind, 'replaced')
  assert.deepEqual(asked, [['a', 'b'], ['c']])
})

test('a selector without groups looks nothing up', async () => {
  const { asked, replaced } = replace('tag=x and online')
  assert.equal((await replaced).kind, 'replaced')
  assert.deepEqual(asked, [])
})

test('unknown groups and groups that contain themselves are named', async () => {
  assert.deepEqual(await replace('group=a', { a: 'group=gone' }).replaced, {
    kind: 'unknown-group',
    groupName: 'gone',
  })
  const circle = { a: 'group=b', b: 'not group=a' }
  assert.deepEqual(await replace('group=a', circle).replaced, { kind: 'refers-to-itself', groupName: 'a' })
})

test('what grows too large or too deep by its groups is refused', async () => {
  const wide: Record<string, string> = { g0: Array.from({ length: 10 }, (_, n) => `a${n}=1`).join(' or ') }
  for (let level = 1; level <= 3; level++) {
    wide[`g${level}`] = Array.from({ length: 10 }, () => `group=g${level - 1}`).join(' or ')
  }
  assert.ok(10 ** 3 <= maxTermsOfGroups && 10 ** 4 > maxTermsOfGroups)
  assert.equal((await replace('group=g2', wide).replaced).kind, 'replaced')
  assert.equal((await replace('group=g3', wide).replaced).kind, 'too-large')
  const deep: Record<string, string> = { g0: 'tag=x' }
  for (let level = 1; level <= maxDepthOfGroups + 1; level++)
    deep[`g${level}`] = `tag=x and group=g${level - 1}`
  assert.equal((await replace(`group=g${maxDepthOfGroups}`, deep).replaced).kind, 'replaced')
  assert.equal((await replace(`group=g${maxDepthOfGroups + 1}`, deep).replaced).kind, 'too-deep')
})
