import type { DatabaseSync } from 'node:sqlite'
import type { Slice, Sliced, StoredOwner } from '../../domain/store.ts'
import { toOwner } from '../from-rows.ts'
import { sliced } from './rows.ts'

const COLUMNS = 'owner_no, owner_id, owner_name, created_at'
const INSERT = `
  INSERT INTO owner (owner_id, owner_name, created_at) VALUES (?, ?, ?)
  ON CONFLICT (owner_name) DO NOTHING RETURNING ${COLUMNS}`
const FIND = `SELECT ${COLUMNS} FROM owner WHERE owner_id = ?`
const LIST = `SELECT ${COLUMNS} FROM owner WHERE owner_no > ? ORDER BY owner_no LIMIT ?`

export function prepareOwners(db: DatabaseSync) {
  const insert = db.prepare(INSERT)
  const find = db.prepare(FIND)
  const list = db.prepare(LIST)
  return {
    createOwner(owner: Omit<StoredOwner, 'ownerNo'>): StoredOwner | 'name-taken' {
      const row = insert.get(owner.ownerId, owner.ownerName, owner.createdAt)
      return row ? toOwner(row) : 'name-taken'
    },
    findOwner(ownerId: string): StoredOwner | undefined {
      const row = find.get(ownerId)
      return row && toOwner(row)
    },
    listOwners({ after, limit }: Slice<number>): Sliced<StoredOwner, number> {
      return sliced(list.all(after ?? 0, limit + 1).map(toOwner), limit, (owner) => owner.ownerNo)
    },
  }
}
