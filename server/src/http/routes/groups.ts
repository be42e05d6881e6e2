// Groups: named selectors.

import { groups } from '@jobcast/contract'
import { deleteGroup, type GroupDeps, getGroup, putGroup } from '../../domain/selector/selector.ts'
import type { App } from '../app-type.ts'
import { toGroup } from '../wire/to-wire.ts'
import { serveResource } from './serve-resource.ts'

export function addGroups(app: App, deps: GroupDeps): void {
  serveResource(app, groups, {
    put: (...put) => putGroup(deps, ...put),
    get: (...group) => getGroup(deps, ...group),
    list: ({ ownerNo }, slice) => deps.store.listGroups({ ownerNo, slice }),
    delete: (caller, groupName, _before, { force }) => deleteGroup(deps, caller, groupName, { force }),
    toView: (group, _caller, keyNames) => toGroup(group, keyNames),
    makers: { of: ({ createdBy, updatedBy }) => [createdBy, updatedBy], deps },
  })
}
