import type { Changer } from '../../access/changers.ts'
import type { Expectation } from '../../common/entity-tag.ts'
import type { OwnerList, Put, Sliced } from '../../common/ports/slices.ts'

export type GroupKey = { ownerNo: number; groupName: string }

export type StoredGroup = {
  groupName: string
  where: string
  description: string | null
  /** In which its devices are offered work. */
  window: string | null
  /** Of its selector; null: nobody is known. */
  changers: Changer[] | null
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
    /** Of the principal: see domain/access/lineage.ts. */
    lineage: string
    at: number
    most: number
    /** Of those with a window; 0, or left out: any number. */
    mostWithWindow?: number
  }

type GroupOutcome =
  | ({ kind: 'put' } & Put<StoredGroup>)
  | { kind: 'too-many' }
  | { kind: 'too-many-with-window' }
  | { kind: 'not-expected' }
  | { kind: 'unknown-window' }
  /** What is wrong with the groups that it refers to. */
  | { kind: 'refused'; problem: GroupProblem }

export type GroupProblem =
  | { kind: 'unknown-group'; groupName: string }
  | { kind: 'refers-to-itself'; groupName: string }
  | { kind: 'too-large' | 'too-deep' | 'too-many-values' }

/** What refers to a group, some of each; runs are those with a gate that does. */
export type GroupUsers = {
  groupNames: string[]
  jobNames: string[]
  scheduleNames: string[]
  runIds: number[]
}

/** With users: they refer to it. */
type GroupDeletion = 'deleted' | 'unknown' | GroupUsers

export type GroupStore = {
  /** Judged and written in one step: no two puts make a circle together. */
  putGroup(put: GroupPut): Promise<GroupOutcome>
  getGroup(group: GroupKey): Promise<StoredGroup | undefined>
  listGroups(list: OwnerList<string>): Promise<Sliced<StoredGroup, string>>
  /** Those that there are. */
  findGroups(groups: { ownerNo: number; groupNames: string[] }): Promise<StoredGroup[]>
  /** Differs once any group of the owner was put or deleted: one short query, however many groups there are. */
  groupsVersion(of: { ownerNo: number }): Promise<string>
  /** `unlessUsed`: not while something refers to it. */
  deleteGroup(
    group: GroupKey & { principal: string; at: number; unlessUsed?: boolean },
  ): Promise<GroupDeletion>
}
