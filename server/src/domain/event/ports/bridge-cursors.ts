type BridgeKey = { bridgeName: string; ownerNo: number }

export type BridgeCursorStore = {
  /** The last event of this owner that the bridge has published; undefined: none yet. */
  getBridgeCursor(bridge: BridgeKey): Promise<number | undefined>
  setBridgeCursor(cursor: BridgeKey & { eventId: number }): Promise<void>
}
