import { sliced } from '../queries.ts'
import { select } from '../schema/column.ts'
import { owner } from '../schema/tables.ts'
import { partOf } from '../statement.ts'
import type { ReadSteps, WriteSteps } from './step.ts'

const OWNER = select(owner.pick('ownerNo', 'ownerId', 'ownerName', 'createdAt'))
const INSERT = `
  INSERT INTO owner (owner_id, owner_name, created_at) VALUES (:ownerId, :ownerName, :createdAt)
  ON CONFLICT (owner_name) DO NOTHING RETURNING ${OWNER}` as const
const FIND = `SELECT ${OWNER} FROM owner WHERE owner_id = :ownerId` as const
const FIND_BY_NAME = `SELECT ${OWNER} FROM owner WHERE owner_name = :ownerName` as const
const LIST = `SELECT ${OWNER} FROM owner WHERE owner_no > :after ORDER BY owner_no LIMIT :limit` as const

export const ownerReads: ReadSteps<'findOwner' | 'findOwnerByName' | 'listOwners'> = {
  findOwner: (queries, { ownerId }) => queries.get(OWNER, FIND, { ownerId }),
  findOwnerByName: (queries, { ownerName }) => queries.get(OWNER, FIND_BY_NAME, { ownerName }),
  async listOwners(queries, { after = 0, limit }) {
    const found = await queries.all(OWNER, LIST, { after, limit: limit + 1 })
    return sliced(found, limit, ({ ownerNo }) => ownerNo)
  },
}

export const ownerWrites: WriteSteps<'createOwner'> = {
  async createOwner(queries, { creator, ...owner }) {
    const created = await queries.get(OWNER, INSERT, partOf(INSERT, owner))
    if (created === undefined) return 'name-taken'
    const { ownerId, ownerName, createdAt: at } = created
    if (creator) {
      const { ownerNo, principal } = creator
      const data = { ownerId, ownerName, principal }
      queries.resourceChanged('owner.created', { ownerNo, at, data, after: { ownerId, ownerName } })
    }
    return created
  },
}
