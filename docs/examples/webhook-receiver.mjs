// A complete receiver: accepts events, verifies their signatures, prints each once.
// npm install standardwebhooks; SECRET=whsec_… node webhook-receiver.mjs

import { createServer } from 'node:http'
import { Webhook } from 'standardwebhooks'

const webhook = new Webhook(process.env.SECRET)
const seen = new Set()

const server = createServer(async (request, response) => {
  const body = Buffer.concat(await request.toArray()).toString()
  try {
    webhook.verify(body, request.headers)
  } catch {
    response.writeHead(400).end()
    return
  }
  // An event can arrive twice, with the same id. Store it before you respond: it is not sent again after that.
  const id = request.headers['webhook-id']
  if (!seen.has(id)) console.log(body)
  seen.add(id)
  response.writeHead(204).end()
})

server.listen(Number(process.env.PORT ?? 9000), () => console.log(`listening on ${server.address().port}`))
