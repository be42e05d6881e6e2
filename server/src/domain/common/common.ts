// Rules that several subjects share and that depend on none of them.
//
// Read next: instants.ts, the wall clock and the steady clock; entity-tag.ts and merge-patch.ts, conditional and partial
// updates; not-found.ts and in-use.ts, shared errors; list-visible.ts, lists of which a caller sees a part;
// ports/store.ts, the store: the ports of all subjects together; ports/nodes.ts, other nodes on the same database.
