//! Protocol Buffers, as far as a trace needs them: numbers, texts, and messages in messages.
//!
//! A message is its fields one after another, each a tag (number and wire type) and a value. The
//! reader has the names; here fields are the numbers of Perfetto's `.proto` files.

/// The bytes of a message that grows field by field.
#[derive(Debug, Default)]
pub(super) struct Message(Vec<u8>);

/// How a value is written.
#[derive(Clone, Copy)]
enum Wire {
    Varint = 0,
    Fixed64 = 1,
    Bytes = 2,
}

impl Message {
    /// Adds a number; also what `bool` and enums are.
    pub(super) fn uint(&mut self, field: u32, value: u64) -> &mut Self {
        self.tag(field, Wire::Varint);
        self.varint(value);
        self
    }

    /// Adds a number of eight bytes.
    pub(super) fn fixed(&mut self, field: u32, value: u64) -> &mut Self {
        self.tag(field, Wire::Fixed64);
        self.0.extend(value.to_le_bytes());
        self
    }

    /// Adds a text.
    pub(super) fn text(&mut self, field: u32, text: &str) -> &mut Self {
        self.message(field, |message| message.0.extend(text.as_bytes()))
    }

    /// Adds a message, which `write` fills. Costs a move of its bytes, by the length before them.
    pub(super) fn message(&mut self, field: u32, write: impl FnOnce(&mut Self)) -> &mut Self {
        self.tag(field, Wire::Bytes);
        let begin = self.0.len();
        write(self);
        let end = self.0.len();
        self.varint((end - begin) as u64);
        let length = self.0.len() - end;
        self.0[begin..].rotate_right(length);
        self
    }

    /// Returns the bytes.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Forgets the fields, not the room for them.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    fn tag(&mut self, field: u32, wire: Wire) {
        self.varint(u64::from(field) << 3 | wire as u64);
    }

    /// Adds seven bits a byte, the lowest first; the eighth says that more follow.
    fn varint(&mut self, mut value: u64) {
        while 0x80 <= value {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(write: impl FnOnce(&mut Message)) -> Vec<u8> {
        let mut message = Message::default();
        write(&mut message);
        message.0
    }

    // The examples of the encoding's own documentation.
    #[test]
    fn numbers_have_seven_bits_a_byte() {
        let encoded = bytes(|message| {
            message.uint(1, 150);
        });
        assert_eq!(encoded, [0x08, 0x96, 0x01]);
        let largest = bytes(|message| {
            message.uint(1, u64::MAX);
        });
        assert_eq!(largest.len(), 1 + 10);
    }

    #[test]
    fn texts_have_their_length_before_them() {
        let encoded = bytes(|message| {
            message.text(2, "testing");
        });
        assert_eq!(encoded, b"\x12\x07testing");
    }

    #[test]
    fn messages_nest_whatever_their_length() {
        let text = "x".repeat(200);
        let encoded = bytes(|message| {
            message.message(3, |inner| {
                inner.uint(1, 150).text(2, &text);
            });
        });
        // 3 bytes of a number, 3 before the text; a length of 206 takes two bytes.
        assert_eq!(encoded[..9], [0x1a, 0xce, 0x01, 0x08, 0x96, 0x01, 0x12, 0xc8, 0x01]);
        assert_eq!(encoded.len(), 3 + 206);
    }

    #[test]
    fn fixed_numbers_begin_with_their_lowest_byte() {
        let encoded = bytes(|message| {
            message.fixed(47, 1 << 56 | 2);
        });
        assert_eq!(encoded, [0xf9, 0x02, 2, 0, 0, 0, 0, 0, 0, 1]);
    }
}
