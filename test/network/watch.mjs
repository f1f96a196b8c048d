// Loaded before everything else (NODE_OPTIONS=--import) into the program, its processes and its threads: whatever would
// use the network is noted in the file that PAPERKNIFE_NETWORK_LOG names, and refused.
import { appendFileSync } from 'node:fs'
import dgram from 'node:dgram'
import dns from 'node:dns'
import net from 'node:net'
import { isMainThread } from 'node:worker_threads'

function refuse(what) {
  return (...given) => {
    const where = isMainThread ? 'process' : 'thread'
    appendFileSync(process.env.PAPERKNIFE_NETWORK_LOG, `${where} ${what} ${String(given[0])}\n`)
    throw new Error(`the network is out of reach: ${what}`)
  }
}

net.Socket.prototype.connect = refuse('connect')
net.Server.prototype.listen = refuse('listen')
for (const method of ['bind', 'connect', 'send'])
  dgram.Socket.prototype[method] = refuse(`dgram.${method}`)
for (const of of [dns, dns.promises, dns.Resolver.prototype, dns.promises.Resolver.prototype])
  for (const name of Object.getOwnPropertyNames(of))
    if (/^(lookup|resolve|reverse)/.test(name)) of[name] = refuse(`dns.${name}`)
globalThis.fetch = refuse('fetch')
globalThis.WebSocket = class {
  constructor(...given) {
    refuse('WebSocket')(...given)
  }
}
globalThis.EventSource = globalThis.WebSocket
appendFileSync(process.env.PAPERKNIFE_NETWORK_LOG, isMainThread ? '+process\n' : '+thread\n')
