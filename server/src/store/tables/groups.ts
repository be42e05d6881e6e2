import { withChanger, withoutMakers } from '../../domain/access/changers.ts'
import { isExpected } from '../../domain/common/entity-tag.ts'
import { replaceGroups } from '../../domain/selector/replace-groups.ts'
import { inBoth, type Queries, sliced } from '../queries.ts'
import { number, rows, select } from '../schema/column.ts'
import { deviceGroup } from '../schema/tables.ts'
import { partOf } from '../statement.ts'
import { findGroupUsers } from './group-users.ts'
import { noteGroupChanged } from './group-windows.ts'
import type { ReadSteps, WriteSteps } from './step.ts'
import { hasWindow } from './windows.ts'

const GROUP = select(
  deviceGroup.pick(
    ...(['groupName', 'where', 'description', 'window', 'changers'] as const),
    ...(['createdAt', 'updatedAt', 'createdBy', 'updatedBy'] as const),
  ),
)
const SELECT = `SELECT ${GROUP} FROM device_group WHERE owner_no = :ownerNo` as const
const FIND = `${SELECT} AND group_name = :groupName` as const
const FIND_ALL = inBoth(({ isIn }) => `${SELECT} AND ${isIn('group_name', 'groupNames', 'text')}`)
const LIST = `${SELECT} AND group_name > :after ORDER BY group_name LIMIT :limit` as const
const COUNT = 'SELECT count(*) AS count FROM device_group WHERE owner_no = :ownerNo'
const COUNT_WITH_WINDOW = inBoth(
  ({ by }) => `
  SELECT count(*) AS count FROM device_group ${by('device_group_with_window')}
  WHERE owner_no = :ownerNo AND window_name IS NOT NULL`,
)
const VERSION_FIELDS = rows({ count: number(), latest: number(), sum: number(), length: number() })
const VERSION = `
  SELECT count(*) AS count, COALESCE(max(updated_at), 0) AS latest,
    CAST(COALESCE(sum(updated_at), 0) AS bigint) AS sum, COALESCE(sum(length(where_text)), 0) AS length
  FROM device_group WHERE owner_no = :ownerNo`
const PUT = `
  INSERT INTO device_group (owner_no, group_name, where_text, description, window_name, changed_by, created_at,
    updated_at, created_by, updated_by)
  VALUES (:ownerNo, :groupName, :where, :description, :window, :changers, :at, :at, :principal, :principal)
  ON CONFLICT (owner_no, group_name) DO UPDATE SET where_text = excluded.where_text,
    description = excluded.description, window_name = excluded.window_name,
    changed_by = excluded.changed_by, updated_at = excluded.updated_at, updated_by = excluded.updated_by`
const DELETE = 'DELETE FROM device_group WHERE owner_no = :ownerNo AND group_name = :groupName'

export const groupReads: ReadSteps<'getGroup' | 'listGroups' | 'findGroups' | 'groupsVersion'> = {
  getGroup: (queries, group) => queries.get(GROUP, FIND, partOf(FIND, group)),
  async listGroups(queries, { ownerNo, slice: { after = '', limit } }) {
    const found = await queries.all(GROUP, LIST, { ownerNo, after, limit: limit + 1 })
    return sliced(found, limit, ({ groupName }) => groupName)
  },
  findGroups,
  async groupsVersion(queries, { ownerNo }) {
    const { count, latest, sum, length } = await queries.one(VERSION_FIELDS, VERSION, { ownerNo })
    return `${count} ${latest} ${sum} ${length}`
  },
}

/** On PostgreSQL serialized per owner. */
export const groupWrites: WriteSteps<'putGroup' | 'deleteGroup'> = {
  async putGroup(queries, put) {
    const { ownerNo, groupName, where, description, window = null, principal, lineage, at, most } = put
    const { mostWithWindow = 0 } = put
    const before = await queries.get(GROUP, FIND, { ownerNo, groupName })
    if (!isExpected(put.expected, before?.groupName)) return { kind: 'not-expected' }
    if (before === undefined) {
      const { count } = await queries.one(rows({ count: number() }), COUNT, { ownerNo })
      if (count >= most) return { kind: 'too-many' }
    }
    const hadWindow = (before?.window ?? null) !== null
    if (window !== null && !hadWindow && mostWithWindow > 0) {
      const { count } = await queries.one(rows({ count: number() }), COUNT_WITH_WINDOW, { ownerNo })
      if (count >= mostWithWindow) return { kind: 'too-many-with-window' }
    }
    const itself = { kind: 'group' as const, groupName, at: 0 }
    const replaced = await replaceGroups(itself, async (groupNames) => {
      const found = await findGroups(queries, { ownerNo, groupNames })
      const others = found.filter((each) => each.groupName !== groupName)
      return groupNames.includes(groupName) ? [...others, { groupName, where }] : others
    })
    if (replaced.kind !== 'replaced') return { kind: 'refused', problem: replaced }
    if (!(await hasWindow(queries, ownerNo, window ?? undefined))) return { kind: 'unknown-window' }
    const isSame = before?.where === where && before.window === window
    if (!isSame)
      await noteGroupChanged(queries, { ownerNo, groupName, hasWindow: hadWindow || window !== null })
    const changers =
      before?.where === where ? before.changers : withChanger(before?.changers ?? null, { lineage, at })
    await queries.run(PUT, {
      ownerNo,
      groupName,
      where,
      description,
      window,
      changers: changers && JSON.stringify(changers),
      at,
      principal,
    })
    if (!isSame || before.description !== description) {
      const data = { groupName, isNew: before === undefined, principal }
      queries.resourceChanged('group.changed', {
        ownerNo,
        at,
        data,
        before: before && withoutMakers(before),
        after: { groupName, where, description, window },
      })
    }
    const value = await queries.one(GROUP, FIND, { ownerNo, groupName })
    return { kind: 'put', created: before === undefined, value }
  },
  async deleteGroup(queries, { ownerNo, groupName, principal, at, unlessUsed = false }) {
    const before = await queries.get(GROUP, FIND, { ownerNo, groupName })
    if (before === undefined) return 'unknown'
    const users = unlessUsed ? await findGroupUsers(queries, { ownerNo, groupName }) : undefined
    if (users) return users
    await noteGroupChanged(queries, { ownerNo, groupName, hasWindow: before.window !== null })
    await queries.run(DELETE, { ownerNo, groupName })
    queries.resourceChanged('group.deleted', {
      ownerNo,
      at,
      data: { groupName, principal },
      before: withoutMakers(before),
    })
    return 'deleted'
  },
}

function findGroups(queries: Queries, { ownerNo, groupNames }: { ownerNo: number; groupNames: string[] }) {
  return queries.all(GROUP, FIND_ALL, { ownerNo, groupNames })
}
