// Downloads under hawkBit's own path. Zephyr takes no other: it looks for the path of its tenant in the link (older versions: for
// /DEFAULT/controller/v1, whatever its tenant is), and has room for 199 characters from there on.
// http/routes/file-downloads.ts serves it.

import type { DeviceKey } from '../../../domain/device/device-key.ts'

/** The link for the URL of a file that is kept here; any other URL is left as it is. */
export type LinkTo = (url: string, filename: string) => string

const maxPathLength = 199

export function linksFor(base: string, tenant: string, { deviceId }: DeviceKey): LinkTo {
  const own = `${base}/files/`
  const root = `/${tenant === 'default' ? 'DEFAULT' : encodeURIComponent(tenant)}/controller/v1`
  return (url, filename) => {
    if (!url.startsWith(own)) return url
    const [path = '', query = ''] = url.slice(own.length).split('?')
    const version = path.slice(path.indexOf('/') + 1)
    const end = `softwaremodules/${version}/artifacts/${encodeURIComponent(filename)}?${query}`
    const full = `${root}/${encodeURIComponent(deviceId)}/${end}`
    // Who the device is makes no difference: the query is signed.
    return base + (full.length <= maxPathLength ? full : `${root}/-/${end}`)
  }
}
