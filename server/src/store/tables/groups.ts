import { isExpected } from '../../domain/common/entity-tag.ts'
import { replaceGroups } from '../../domain/selector/replace-groups.ts'
import { inBoth, type Queries, sliced } from '../queries.ts'
import { number, rows, select } from '../schema/column.ts'
import { deviceGroup } from '../schema/tables.ts'
import { partOf } from '../statement.ts'
import type { ReadSteps, WriteSteps } from './step.ts'

const GROUP = select(deviceGroup.pick('groupName', 'where', 'description', 'createdAt', 'updatedAt'))
const SELECT = `SELECT ${GROUP} FROM device_group WHERE owner_no = :ownerNo` as const
const FIND = `${SELECT} AND group_name = :groupName` as const
const FIND_ALL = inBoth(({ isIn }) => `${SELECT} AND ${isIn('group_name', 'groupNames', 'text')}`)
const LIST = `${SELECT} AND group_name > :after ORDER BY group_name LIMIT :limit` as const
const COUNT = 'SELECT count(*) AS count FROM device_group WHERE owner_no = :ownerNo'
const VERSION_FIELDS = rows({ count: number(), latest: number(), sum: number(), length: number() })
const VERSION = `
  SELECT count(*) AS count, COALESCE(max(updated_at), 0) AS latest,
    CAST(COALESCE(sum(updated_at), 0) AS bigint) AS sum, COALESCE(sum(length(where_text)), 0) AS length
  FROM device_group WHERE owner_no = :ownerNo`
const PUT = `
  INSERT INTO device_group (owner_no, group_name, where_text, description, created_at, updated_at)
  VALUES (:ownerNo, :groupName, :where, :description, :at, :at)
  ON CONFLICT (owner_no, group_name) DO UPDATE SET where_text = excluded.where_text,
    description = excluded.description, updated_at = excluded.updated_at`
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

/** On PostgreSQL one at a time for each owner. */
export const groupWrites: WriteSteps<'putGroup' | 'deleteGroup'> = {
  async putGroup(queries, put) {
    const { ownerNo, groupName, where, description, principal, at, most } = put
    const before = await queries.get(GROUP, FIND, { ownerNo, groupName })
    if (!isExpected(put.expected, before?.groupName)) return { kind: 'not-expected' }
    if (before === undefined) {
      const { count } = await queries.one(rows({ count: number() }), COUNT, { ownerNo })
      if (count >= most) return { kind: 'too-many' }
    }
    const itself = { kind: 'group' as const, groupName, at: 0 }
    const replaced = await replaceGroups(itself, async (groupNames) => {
      const found = await findGroups(queries, { ownerNo, groupNames })
      const others = found.filter((each) => each.groupName !== groupName)
      return groupNames.includes(groupName) ? [...others, { groupName, where }] : others
    })
    if (replaced.kind !== 'replaced') return { kind: 'refused', problem: replaced }
    await queries.run(PUT, { ownerNo, groupName, where, description, at })
    if (before?.where !== where || before.description !== description) {
      const data = { groupName, isNew: before === undefined, principal }
      queries.resourceChanged('group.changed', { ownerNo, at, data })
    }
    const value = await queries.one(GROUP, FIND, { ownerNo, groupName })
    return { kind: 'put', created: before === undefined, value }
  },
  async deleteGroup(queries, { ownerNo, groupName, principal, at }) {
    if ((await queries.run(DELETE, { ownerNo, groupName })) === 0) return false
    queries.resourceChanged('group.deleted', { ownerNo, at, data: { groupName, principal } })
    return true
  },
}

function findGroups(queries: Queries, { ownerNo, groupNames }: { ownerNo: number; groupNames: string[] }) {
  return queries.all(GROUP, FIND_ALL, { ownerNo, groupNames })
}
