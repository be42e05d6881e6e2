/** A device as its callers name it. */
export type DeviceKey = { ownerNo: number; deviceId: string }
