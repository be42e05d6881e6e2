/** Identifies a device in the API. */
export type DeviceKey = { ownerNo: number; deviceId: string }
