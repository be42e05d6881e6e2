type BridgeKey = { bridgeName: string; ownerNo: number }

export type BridgeCursorStore = {
  /** Up to which event of this owner the bridge has published; undefined: it has published none yet. */
  getBridgeCursor(bridge: BridgeKey): Promise<number | undefined>
  setBridgeCursor(cursor: BridgeKey & { eventId: number }): Promise<void>
}
