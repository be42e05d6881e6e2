import type { Made } from '../../access/changers.ts'
import type { Expectation } from '../../common/entity-tag.ts'
import type { OwnerList, Put, Sliced } from '../../common/ports/slices.ts'

export type GroupKey = { ownerNo: number; groupName: string }

/** `changers`: who changed its selector. */
export type StoredGroup = Made & {
  groupName: string
  where: string
  description: string | null
  /** The window in which its devices are offered work. */
  window: string | null
  createdAt: number
  updatedAt: number
}

type GroupPut = GroupKey &
  Expectation & {
    where: string
    description: string | null
    /** Default: none. */
    window?: string | null
    principal: string
    /** The lineage of the principal: see domain/access/lineage.ts. */
    lineage: string
    at: number
    most: number
    /** The maximum number of groups with a window; 0 or undefined: no limit. */
    mostWithWindow?: number
  }

type GroupOutcome =
  | ({ kind: 'put' } & Put<StoredGroup>)
  | { kind: 'too-many' }
  | { kind: 'too-many-with-window' }
  | { kind: 'not-expected' }
  | { kind: 'unknown-window' }
  /** A group that the selector refers to is invalid. */
  | { kind: 'refused'; problem: GroupProblem }

export type GroupProblem =
  | { kind: 'unknown-group'; groupName: string }
  | { kind: 'refers-to-itself'; groupName: string }
  | { kind: 'too-large' | 'too-deep' | 'too-many-values' }

/** Some users of a group of each kind; a run uses a group if one of its gates refers to it. */
export type GroupUsers = {
  groupNames: string[]
  jobNames: string[]
  scheduleNames: string[]
  runIds: number[]
}

/** With users: the group is in use. */
type GroupDeletion = 'deleted' | 'unknown' | GroupUsers

export type GroupStore = {
  /** Checked and written in one step, so that two concurrent puts cannot form a cycle. */
  putGroup(put: GroupPut): Promise<GroupOutcome>
  getGroup(group: GroupKey): Promise<StoredGroup | undefined>
  listGroups(list: OwnerList<string>): Promise<Sliced<StoredGroup, string>>
  /** The groups that exist. */
  findGroups(groups: { ownerNo: number; groupNames: string[] }): Promise<StoredGroup[]>
  /** Changes when any group of the owner is put or deleted. One short query, however many groups there are. */
  groupsVersion(of: { ownerNo: number }): Promise<string>
  /** `unlessUsed`: refused while something refers to it. */
  deleteGroup(
    group: GroupKey & { principal: string; at: number; unlessUsed?: boolean },
  ): Promise<GroupDeletion>
}
