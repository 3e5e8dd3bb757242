// HTTP/2 in frames of our own, for what no client would send (RFC 9113 §4, RFC 7541).

export const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
export const types = { data: 0, headers: 1, priority: 2, reset: 3, settings: 4, ping: 6, goaway: 7 } as const;
/** END_STREAM and END_HEADERS; ACK has the first one's bit. */
export const flags = { endStream: 0x1, ack: 0x1, endHeaders: 0x4 } as const;

export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

/** The bytes of a frame. */
export function frame(type: number, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** A header field that is spelt out, without compression (RFC 7541 §6.2.2). */
export function literal(name: string, value: string): Buffer {
  return Buffer.concat([Buffer.from([0]), text(name), text(value)]);
}

/** The frames of bytes that come in any pieces; call it with each piece. */
export function frameReader(): (chunk: Buffer) => Frame[] {
  let seen: Buffer = Buffer.alloc(0);
  return (chunk) => {
    seen = Buffer.concat([seen, chunk]);
    const frames: Frame[] = [];
    while (seen.length >= 9 && seen.length >= 9 + seen.readUIntBE(0, 3)) {
      const length = seen.readUIntBE(0, 3);
      frames.push({
        type: seen.readUInt8(3),
        flags: seen.readUInt8(4),
        stream: seen.readUInt32BE(5),
        payload: seen.subarray(9, 9 + length),
      });
      seen = seen.subarray(9 + length);
    }
    return frames;
  };
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  if (bytes.length > 126) throw new Error("too long to be spelt so simply");
  return Buffer.concat([Buffer.from([bytes.length]), bytes]);
}
