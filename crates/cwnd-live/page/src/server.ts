// The server of `cwnd live` as the engine of the page.

import { decode, type Engine, type Listener, type Table } from './protocol';

/** A connection that is made again when it breaks. */
export class Server implements Engine {
  private socket: WebSocket | null = null;

  constructor(private readonly listener: Listener) {
    this.connect();
  }

  send(request: Table): boolean {
    if (this.socket?.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify(request));
    return true;
  }

  private connect(): void {
    const socket = new WebSocket(new URL('ws', location.href).href.replace(/^http/, 'ws').replace(/#.*/, ''));
    socket.binaryType = 'arraybuffer';
    socket.onmessage = ({ data }) => this.listener.heard(...decode(data as ArrayBuffer));
    socket.onclose = () => {
      this.socket = null;
      this.listener.lost('no connection to the server; trying again');
      setTimeout(() => this.connect(), RETRY_MS);
    };
    this.socket = socket;
  }
}

const RETRY_MS = 1000;
