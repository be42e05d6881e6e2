// Download links under hawkBit's own path. Zephyr accepts no other: it searches the link for the path of its tenant (older versions:
// for /DEFAULT/controller/v1, whatever the tenant is), and has room for 199 characters from there on.
// http/routes/file-downloads.ts serves it.

import type { DeviceKey } from '../../../domain/device/device-key.ts'

/** Rewrites the URL of a file stored here to its download link; other URLs are left unchanged. */
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
    // The device id in the path may be replaced by `-`: the signed query authorizes the download.
    return base + (full.length <= maxPathLength ? full : `${root}/-/${end}`)
  }
}
