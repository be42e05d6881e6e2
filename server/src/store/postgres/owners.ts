import type { Slice, Store } from '../../domain/store.ts'
import { toOwner } from '../from-rows.ts'
import type { Database } from './database.ts'
import { sliced } from './rows.ts'

const COLUMNS = 'owner_no, owner_id, owner_name, created_at'
const INSERT = `
  INSERT INTO owner (owner_id, owner_name, created_at) VALUES ($1, $2, $3)
  ON CONFLICT (owner_name) DO NOTHING RETURNING ${COLUMNS}`
const FIND = `SELECT ${COLUMNS} FROM owner WHERE owner_id = $1`
const LIST = `SELECT ${COLUMNS} FROM owner WHERE owner_no > $1 ORDER BY owner_no LIMIT $2`

export function buildOwnerSteps(db: Database): Pick<Store, 'createOwner' | 'findOwner' | 'listOwners'> {
  return {
    createOwner({ ownerId, ownerName, createdAt }) {
      return db.inTransaction(async (transaction) => {
        const [row] = await transaction.query(INSERT, [ownerId, ownerName, createdAt])
        return row ? toOwner(row) : 'name-taken'
      })
    },
    async findOwner({ ownerId }) {
      const [row] = await db.query(FIND, [ownerId])
      return row && toOwner(row)
    },
    async listOwners({ after, limit }: Slice<number>) {
      const rows = await db.query(LIST, [after ?? 0, limit + 1])
      return sliced(rows.map(toOwner), limit, (owner) => owner.ownerNo)
    },
  }
}
