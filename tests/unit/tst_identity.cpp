// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/lease/identity.h"

#include <QTest>

using namespace tenure;

class TstIdentity : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void leaseNames();
    void holderNames();
    void uniqueHoldersDiffer();
    void nonces();
};

void TstIdentity::leaseNames()
{
    for (const std::string &good : {std::string("a"), std::string("two words\n:"), std::string(512, 'n')})
        QVERIFY(LeaseId::parse(good));
    for (const std::string &bad : {std::string(), std::string(513, 'n'), std::string("a\0b", 3), std::string("\xFF")}) {
        const auto lease = LeaseId::parse(bad);
        QVERIFY(!lease);
        QCOMPARE(lease.error().kind, ErrorKind::BadConfig);
    }
}

void TstIdentity::holderNames()
{
    QVERIFY(HolderId::parse("web-1 \xC3\xA9"));
    for (const std::string &bad : {std::string(), std::string(256, 'n'), std::string("a\nb"), std::string("\xFF")})
        QVERIFY(!HolderId::parse(bad));
}

void TstIdentity::uniqueHoldersDiffer()
{
    const HolderId one = HolderId::unique("web");
    QVERIFY(one.name().starts_with("web_"));
    QVERIFY(one != HolderId::unique("web"));
    QVERIFY(HolderId::parse(HolderId::unique(std::string(400, 'x')).name()));
}

void TstIdentity::nonces()
{
    const Nonce nonce = Nonce::random();
    QVERIFY(nonce);
    QVERIFY(nonce != Nonce::random());
    QCOMPARE(nonce.hex().size(), std::size_t{32});
    QCOMPARE(Nonce::parse(nonce.hex()), nonce);
    QVERIFY(!Nonce());
    for (const char *bad : {"", "12", "g2345678901234567890123456789012", "A2345678901234567890123456789012"})
        QVERIFY(!Nonce::parse(bad));
}

QTEST_GUILESS_MAIN(TstIdentity)
#include "tst_identity.moc"
